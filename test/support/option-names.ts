import { join } from 'node:path'
import ts from 'typescript'
import { root } from './source-tree.js'

const ENTRIES = ['index', 'graphql', 'openapi', 'auth', 'http', 'observe'].map((name) =>
  join(root, `dist/${name}.d.ts`)
)

/**
 * Reads the fields of the public types of options. Each function checks its options by a table that the compiler keeps
 * equal to its type, so these are the names that the code accepts.
 */
export function readOptionNames(): (type: string) => string[] {
  const { options } = ts.convertCompilerOptionsFromJson(
    { module: 'nodenext', skipLibCheck: true, types: ['node'] },
    root
  )
  const program = ts.createProgram(ENTRIES, options)
  const checker = program.getTypeChecker()
  const exported = program
    .getSourceFiles()
    .filter(({ fileName }) => ENTRIES.includes(fileName))
    .flatMap((file) => checker.getExportsOfModule(checker.getSymbolAtLocation(file) as ts.Symbol))
  return (type) => {
    const symbol = exported.find(({ name }) => name === type)
    if (symbol === undefined) throw new Error(`no entry exports a type ${type}`)
    const original = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    return checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(original)).map(({ name }) => name)
  }
}
