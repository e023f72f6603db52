import { readFileSync } from 'node:fs'
import { BootError } from '../index.js'
import { openapi, type DocumentInfo } from '../openapi.js'
import { compareDocuments, type ApiDocument } from './compare-documents.js'
import { openApp } from './open-app.js'
import { print } from './output.js'
import { writeText } from './text-file.js'
import { CommandError, type Given } from './usage.js'

/** @returns the exit code: 1 when the file is not the document */
export async function runOpenapi({ argument, values, switches }: Given): Promise<number> {
  const { output } = values
  const isCheck = switches.has('check')
  if (isCheck && output === undefined) throw new CommandError('--check compares with a file: add --output openapi.json')
  const document = await makeDocument(argument, values['base-route'])
  const text = `${JSON.stringify(document, null, 2)}\n`
  if (output === undefined) print(text)
  else if (isCheck) return checkFile(output, document)
  else {
    writeText(output, text)
    print(`${output} describes ${countOperations(document)}`)
  }
  return 0
}

async function makeDocument(apiDir: string | undefined, baseRoute: string | undefined): Promise<ApiDocument> {
  const app = await openApp({ apiDir, baseRoute })
  try {
    await app.register(openapi, { info: readInfo(), enabled: true, page: false })
    await app.ready()
  } catch (error) {
    throw error instanceof BootError ? new CommandError(error.message) : error
  }
  return app.swagger() as object as ApiDocument
}

/** Name and version of the package that is worked on. */
function readInfo(): DocumentInfo {
  const { name = 'API', version = '1.0.0', description } = readManifest()
  return { title: name, version, ...(description !== undefined && description !== '' && { description }) }
}

function readManifest(): { name?: string; version?: string; description?: string } {
  try {
    return JSON.parse(readFileSync('package.json', 'utf8')) as { name?: string }
  } catch {
    return {} // none is needed
  }
}

function checkFile(file: string, document: ApiDocument): number {
  const write = `twinroute openapi --output ${file}`
  const changes = compareDocuments(readDocument(file, write), document)
  if (changes.length === 0) {
    print(`${file} describes the routes as they are (${countOperations(document)})`)
    return 0
  }
  print(`${file} is not the document of these routes`)
  for (const change of changes) print(`  ${change}`)
  print(`Write it again: ${write}`)
  return 1
}

function readDocument(file: string, write: string): ApiDocument {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ApiDocument
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(`The document cannot be read: ${reason}\nWrite it once: ${write}`)
  }
}

function countOperations({ paths }: ApiDocument): string {
  const count = Object.values(paths).flatMap((item) => Object.keys(item)).length
  return count === 1 ? '1 operation' : `${count} operations`
}
