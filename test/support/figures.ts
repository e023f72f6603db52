// Prints the size and shape of lib/: `npm run figures`.
import { posix } from 'node:path'
import { circlesIn, layerProblem } from './layers.js'
import { fileLines, functionsOf, linesOf, ownImports, sourceFiles } from './source-tree.js'

/** Median, 90th percentile and largest of some numbers. */
function spread(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return `median ${at(0.5)}, 90th percentile ${at(0.9)}, largest ${at(1)}`
}

/** File names that occur in more than one folder, with their folders. */
function repeatedNames(paths: readonly string[]): string[] {
  const folders = new Map<string, string[]>()
  for (const path of paths) {
    const name = posix.basename(path)
    folders.set(name, [...(folders.get(name) ?? []), posix.dirname(path)])
  }
  return [...folders].filter(([, list]) => list.length > 1).map(([name, list]) => `${name}: ${list.join(', ')}`)
}

const files = sourceFiles('lib')
const lines = files.map(fileLines)
const functions = files.flatMap(functionsOf).map(linesOf)
const imports = files.flatMap(ownImports)
const upward = imports.flatMap((found) => layerProblem(found) ?? [])
const report: [name: string, value: string, details?: readonly string[]][] = [
  ['files', `${files.length}, ${lines.reduce((sum, count) => sum + count, 0)} lines`],
  ['lines of a file', spread(lines)],
  ['functions', String(functions.length)],
  ['lines of a function', spread(functions)],
  ['circles', String(circlesIn(imports.filter(({ typeOnly }) => !typeOnly)).length)],
  ['circles with types', String(circlesIn(imports).length), circlesIn(imports)],
  ['upward imports', String(upward.length), upward],
  [
    'names in two folders',
    String(repeatedNames(files.map(({ fileName }) => fileName)).length),
    repeatedNames(files.map(({ fileName }) => fileName))
  ]
]
const text = report.map(([name, value, details = []]) => [
  `${name.padEnd(22)}${value}`,
  ...details.map((line) => `  ${line}`)
])
process.stdout.write(`${text.flat().join('\n')}\n`)
