import { build } from 'esbuild'
import { root } from './source-tree.js'

/** A program that imports `twinroute/client`, as a bundler makes it for browsers. */
export async function bundleForBrowsers(lines: string) {
  return build({
    stdin: { contents: lines, resolveDir: root, loader: 'ts' },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    metafile: true
  })
}
