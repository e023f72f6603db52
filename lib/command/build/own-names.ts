/*
 * In the built program `import.meta.url` is that of the one file, so each source file that asks for its place gets constants of
 * its own by these names (file-places.ts). They stand on one of the whole output, which its first line declares.
 */

/** URL of the built file, which is in the output folder itself. */
export const OUTPUT_URL = '__twinroute_output'
export const TO_PATH = '__twinroute_toPath'

/** `require` is for CommonJS packages that are put into the file. */
export const BANNER =
  `import { fileURLToPath as ${TO_PATH} } from 'node:url'; ` +
  `import { createRequire as __twinroute_createRequire } from 'node:module'; ` +
  `const ${OUTPUT_URL} = import.meta.url, require = __twinroute_createRequire(${OUTPUT_URL});`

export const MODULE_URL = '__twinroute_url'
export const FILE_NAME = '__twinroute_filename'
export const FOLDER_NAME = '__twinroute_dirname'

/** For esbuild: what sources write, and the constant in its place. */
export const DEFINES = {
  'import.meta.url': MODULE_URL,
  'import.meta.filename': FILE_NAME,
  'import.meta.dirname': FOLDER_NAME,
  __filename: FILE_NAME,
  __dirname: FOLDER_NAME
}

/** What an import of a directory's routes begins with; the directory follows. */
export const ROUTES_PREFIX = 'twinroute-routes:'
