import assert from 'node:assert/strict'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import type { ApiDocument } from './example-app.js'
import type { Row } from './rows.js'

const USES = new URL('../uses/client.ts', import.meta.url)
/** Below the packages of this folder, where the compiler finds them. */
const FOLDER = new URL('./uses/', import.meta.url)

/** Uses of a client that is generated from the document: what is right compiles, what is wrong does not. */
export async function typesRows(document: ApiDocument): Promise<Row[]> {
  await mkdir(FOLDER, { recursive: true })
  await writeFile(new URL('api.ts', FOLDER), astToString(await openapiTS(structuredClone(document) as never)))
  await copyFile(USES, new URL('client.ts', FOLDER))
  const faults = compile(fileURLToPath(new URL('client.ts', FOLDER)))
  const lines = (await readFile(USES, 'utf8')).split('\n')
  const starts = lines.flatMap((line, at) => (line.startsWith('// row: ') ? [at] : []))
  return starts.map((start, index) => {
    const end = starts[index + 1] ?? lines.length
    const own = faults.filter(({ line }) => line >= (index === 0 ? 0 : start) && line < end)
    const texts = own.map(({ line, text }) => `line ${line + 1}: ${text}`)
    return { rule: (lines[start] as string).slice('// row: '.length), check: () => assert.deepEqual(texts, []) }
  })
}

interface Fault {
  readonly line: number
  readonly text: string
}

function compile(file: string): Fault[] {
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: []
  })
  return ts.getPreEmitDiagnostics(program).map(({ file: where, start = 0, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, ' ')
    if (where === undefined || !where.fileName.endsWith('client.ts'))
      return { line: 0, text: `${where?.fileName}: ${text}` }
    return { line: where.getLineAndCharacterOfPosition(start).line, text }
  })
}
