import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Edited, ReloadTexts } from './reload-texts.js'

const packages = fileURLToPath(new URL('../node_modules', import.meta.url))

/** An application of so many route files, in a temporary folder. */
export class ReloadProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'twinroute-reload-'))
  readonly port: number
  readonly #texts: ReloadTexts
  #edits = 0

  constructor(texts: ReloadTexts, { routes, port }: { routes: number; port: number }) {
    this.port = port
    this.#texts = texts
    for (const kind of ['shared module', 'map', 'entry', 'route'] as const) this.edit(kind)
    for (let index = 1; index < routes; index++) this.#writeRoute(`group${index % 10}/item${index}`, index)
    for (const [file, text] of Object.entries(texts.files)) this.#write(file, text)
    mkdirSync(join(this.folder, 'node_modules'))
    for (const name of texts.packages) symlinkSync(join(packages, name), join(this.folder, 'node_modules', name))
  }

  /** Writes a file anew; `/api/edited` answers with the number, under the name, once it is loaded. */
  edit(kind: Edited): { number: number; name: string } {
    const number = ++this.#edits
    if (kind === 'route') this.#writeRoute('edited', number)
    else this.#write(this.#texts.edited[kind].file, this.#texts.edited[kind].text(number))
    return { number, name: kind === 'shared module' ? 'shared' : kind }
  }

  add(): string {
    const name = `added${++this.#edits}`
    this.#writeRoute(name, this.#edits)
    return name
  }

  rename(name: string): string {
    const to = `${name}-renamed`
    renameSync(this.#folderOf(name), this.#folderOf(to))
    return to
  }

  delete(name: string): void {
    rmSync(this.#folderOf(name), { recursive: true })
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }

  #folderOf(name: string): string {
    return dirname(join(this.folder, this.#texts.routeFile(name)))
  }

  #writeRoute(name: string, number: number): void {
    this.#write(this.#texts.routeFile(name), this.#texts.route(name, number))
  }

  #write(file: string, text: string): void {
    const path = join(this.folder, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}
