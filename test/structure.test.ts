// ci: once (reads source files; no other Node version could answer differently)
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { circlesIn, ENTRIES, LAYERS, layerProblem, rankOf } from './support/layers.js'
import {
  at,
  fileLines,
  functionsOf,
  linesOf,
  nameOf,
  nodesOf,
  ownImports,
  root,
  sourceFiles
} from './support/source-tree.js'

/** Nothing is known about a folder by these names. */
const EMPTY_NAMES = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'shared', 'types'])
const DIRECTORY_READERS = new Set(['readdir', 'readdirSync', 'opendir', 'opendirSync', 'glob', 'globSync'])
const DIRECTORY_PLACES = new Set([
  'lib/discovery/scan.ts',
  'lib/body/temporary-files.ts',
  'lib/command/build/output-entries.ts'
])
const MODE_PLACES = new Set(['lib/contract/mode.ts', 'lib/command/start-command.ts', 'lib/develop/check-routes.ts'])

const MAX_FILE_LINES = 230
const MAX_FUNCTION_LINES = 40
const MAX_PARAMETERS = 4

/** `flag: boolean`, `flag?: boolean`, `flag = false`: at the call nobody can read what `true` means. */
function isBooleanParameter(parameter: ts.ParameterDeclaration): boolean {
  if (ts.isSetAccessor(parameter.parent)) return false
  const initializer = parameter.initializer?.kind
  if (initializer === ts.SyntaxKind.TrueKeyword || initializer === ts.SyntaxKind.FalseKeyword) return true
  const type = parameter.type
  if (type === undefined) return false
  const kinds = ts.isUnionTypeNode(type) ? type.types.map((part) => part.kind) : [type.kind]
  const flags = new Set([ts.SyntaxKind.BooleanKeyword, ts.SyntaxKind.UndefinedKeyword])
  return kinds.includes(ts.SyntaxKind.BooleanKeyword) && kinds.every((kind) => flags.has(kind))
}

/** `x as unknown`, `x as any`: from there every cast is allowed, and none is checked. */
function isCastToNothing(node: ts.Node): boolean {
  if (ts.isParenthesizedExpression(node)) return isCastToNothing(node.expression)
  const nothing = [ts.SyntaxKind.UnknownKeyword, ts.SyntaxKind.AnyKeyword, ts.SyntaxKind.NeverKeyword]
  return ts.isAsExpression(node) && nothing.includes(node.type.kind)
}

function isIdentifierIn(names: ReadonlySet<string>): (node: ts.Node) => boolean {
  return (node) => (ts.isIdentifier(node) || ts.isStringLiteralLike(node)) && names.has(node.text)
}

const lib = sourceFiles('lib')
const example = sourceFiles('routes-example')

interface Rule {
  rule: string
  /** The files it is about; default: all of lib. */
  files?: readonly ts.SourceFile[]
  /** Lines to print, each naming a file. */
  problems: (file: ts.SourceFile) => readonly string[]
}

const RULES: Rule[] = [
  {
    rule: 'a folder imports only from folders below it, and only the command imports entries',
    problems: (file) => ownImports(file).flatMap((found) => layerProblem(found) ?? [])
  },
  {
    rule: 'every folder of lib has its place in the layers',
    problems: (file) =>
      ENTRIES.includes(file.fileName) || rankOf(file.fileName) !== -1 ? [] : [`${file.fileName}: in no layer`]
  },
  {
    rule: 'entries hold imports and explicit exports, nothing else',
    files: lib.filter((file) => ENTRIES.includes(file.fileName)),
    problems: (file) =>
      file.statements
        .filter(
          (line) =>
            !ts.isImportDeclaration(line) &&
            !ts.isImportEqualsDeclaration(line) &&
            !ts.isExportDeclaration(line) &&
            !ts.isExportAssignment(line)
        )
        .map((line) => `${at(line)}: code in an entry`)
  },
  {
    rule: `a file has at most ${MAX_FILE_LINES} lines`,
    files: [...lib, ...example],
    problems: (file) =>
      fileLines(file) > MAX_FILE_LINES ? [`${file.fileName}:${MAX_FILE_LINES + 1}: ${fileLines(file)} lines`] : []
  },
  {
    rule: `a function has at most ${MAX_FUNCTION_LINES} lines`,
    files: [...lib, ...example],
    problems: (file) =>
      functionsOf(file)
        .filter((node) => linesOf(node) > MAX_FUNCTION_LINES)
        .map((node) => `${at(node)}: ${nameOf(node)} has ${linesOf(node)} lines`)
  },
  {
    rule: `a function has at most ${MAX_PARAMETERS} parameters`,
    files: [...lib, ...example],
    problems: (file) =>
      functionsOf(file)
        .filter((node) => node.parameters.filter(({ name }) => name.getText() !== 'this').length > MAX_PARAMETERS)
        .map((node) => `${at(node)}: ${nameOf(node)} has ${node.parameters.length} parameters`)
  },
  {
    rule: 'no function takes a boolean by position',
    files: [...lib, ...example],
    problems: (file) =>
      functionsOf(file)
        .flatMap((node) => [...node.parameters])
        .filter(isBooleanParameter)
        .map((parameter) => `${at(parameter)}: ${parameter.getText()}: use an option by name, or two functions`)
  },
  {
    rule: 'only lib/contract/mode.ts reads NODE_ENV, and only `twinroute start` and the check of a build set it',
    files: lib.filter((file) => !MODE_PLACES.has(file.fileName)),
    problems: (file) =>
      nodesOf(file)
        .filter(isIdentifierIn(new Set(['NODE_ENV'])))
        .map((node) => `${at(node)}: take the mode as a value`)
  },
  {
    rule: 'only the scan reads directories of the application, and only the sweep of temporary files and a build their own',
    files: lib.filter((file) => !DIRECTORY_PLACES.has(file.fileName)),
    problems: (file) =>
      nodesOf(file)
        .filter(isIdentifierIn(DIRECTORY_READERS))
        .map((node) => `${at(node)}: ${node.getText()}`)
  },
  {
    rule: 'no cast goes through unknown',
    files: [...lib, ...example],
    problems: (file) =>
      nodesOf(file)
        .filter((node) => ts.isAsExpression(node) && isCastToNothing(node.expression))
        .map((node) => `${at(node)}: ${node.getText()}`)
  },
  {
    rule: 'names are exported one by one, never with a star',
    problems: (file) =>
      file.statements
        .filter(
          (line) => ts.isExportDeclaration(line) && (!line.exportClause || ts.isNamespaceExport(line.exportClause))
        )
        .map((line) => `${at(line)}: ${line.getText()}`)
  },
  {
    rule: 'files have names of their own, in kebab-case, and no folder has an index file',
    problems: (file) => {
      const name = posix.basename(file.fileName).replace(/(\.d)?\.[mc]?tsx?$/, '')
      const kebab = /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)
      const index = name === 'index' && !ENTRIES.includes(file.fileName)
      return kebab && !index && !EMPTY_NAMES.has(name) ? [] : [`${file.fileName}: rename it`]
    }
  },
  {
    rule: 'a switched-off check says why',
    files: [...lib, ...example],
    problems: (file) =>
      file.text
        .split('\n')
        .flatMap((line, index) =>
          /(oxlint|eslint)-disable(?!.* -- \w)|@ts-(ignore|nocheck)|@ts-expect-error\s*$/.test(line)
            ? [`${file.fileName}:${index + 1}: ${line.trim()}`]
            : []
        )
  }
]

for (const { rule, files = lib, problems } of RULES) {
  t.test(rule, async (t) => t.strictSame(files.flatMap(problems), []))
}

t.test('no two files of lib import each other, directly or in a circle, types included', async (t) => {
  t.strictSame(circlesIn(lib.flatMap(ownImports)), [])
})

t.test('CONTRIBUTING lists the layers as they are', async (t) => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const listed = text.match(/^- `lib\/[a-z]+\/`.*$/gm)?.map((line) => line.match(/`lib\/([a-z]+)\/`/g) ?? [])
  const folders = listed?.map((line) => line.map((folder) => folder.slice(5, -2)))
  t.strictSame(folders, LAYERS)
})
