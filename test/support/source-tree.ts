import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** The repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url))

export type FunctionNode = ts.FunctionLikeDeclaration & { body: ts.Node }

/** The files below a folder of the repository, by their path from its root; installed and built ones left out. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory())
      return /^\.|^node_modules$|^dist$/.test(entry.name) ? [] : filesBelow(`${folder}/${entry.name}`)
    return entry.isFile() ? [`${folder}/${entry.name}`] : []
  })
}

/** The parsed TypeScript files below a folder of the repository, named by their path from its root. */
export function sourceFiles(folder: string): ts.SourceFile[] {
  return filesBelow(folder)
    .filter((path) => /\.[mc]?tsx?$/.test(path))
    .toSorted((a, b) => a.localeCompare(b))
    .map((path) => ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true))
}

/** Every node of a file, outermost first. */
export function nodesOf(file: ts.SourceFile): ts.Node[] {
  const nodes: ts.Node[] = []
  const visit = (node: ts.Node): void => {
    nodes.push(node)
    node.forEachChild(visit)
  }
  visit(file)
  return nodes
}

/** `lib/x.ts:12` */
export function at(node: ts.Node): string {
  const file = node.getSourceFile()
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
}

export function linesOf(node: ts.Node): number {
  const file = node.getSourceFile()
  const first = file.getLineAndCharacterOfPosition(node.getStart()).line
  return file.getLineAndCharacterOfPosition(node.getEnd()).line - first + 1
}

export function fileLines(file: ts.SourceFile): number {
  return file.text.trimEnd().split('\n').length
}

/** Everything in a file that has parameters and a body: functions, methods, accessors, arrows. */
export function functionsOf(file: ts.SourceFile): FunctionNode[] {
  return nodesOf(file).filter(
    (node): node is FunctionNode => ts.isFunctionLike(node) && 'body' in node && node.body !== undefined
  )
}

export function nameOf(node: FunctionNode): string {
  if (node.name !== undefined) return node.name.getText()
  return ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : 'a function'
}

function moduleSpecifier(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return node.arguments[0]
  return undefined
}

export interface Import {
  /** `lib/x.ts:12` */
  where: string
  from: string
  to: string
  /** Gone after compilation: two files of one folder may describe each other's types. */
  typeOnly: boolean
}

function isTypeOnly(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node)) return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
  return ts.isImportTypeNode(node) || (ts.isExportDeclaration(node) && node.isTypeOnly)
}

/** Imports of files of this package, types included; `to` is the source file meant. */
export function ownImports(file: ts.SourceFile): Import[] {
  return nodesOf(file).flatMap((node) => {
    const specifier = moduleSpecifier(node)
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return []
    if (!specifier.text.startsWith('.')) return []
    const to = posix.join(dirname(file.fileName), specifier.text).replace(/\.([mc]?)js$/, '.$1ts')
    return [{ where: at(node), from: file.fileName, to, typeOnly: isTypeOnly(node) }]
  })
}
