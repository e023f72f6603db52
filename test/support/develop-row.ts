import assert from 'node:assert/strict'
import type { DevelopProject, Files } from './develop-project.js'

/** What a developer does, and what must come of it. */
export interface Row {
  name: string
  files: Files
  /** Of packages to folders of the project. */
  links?: Files
  args?: readonly string[]
  env?: NodeJS.ProcessEnv
  /** The project's folder in the temporary one. */
  place?: string
  /** The row starts the server itself: it has no address at first. */
  isStarted?: false
  run(project: DevelopProject): Promise<void>
}

export async function expectAnswer(
  project: DevelopProject,
  path: string,
  expected: unknown,
  status = 200
): Promise<void> {
  const answer = await project.get(path)
  assert.deepEqual([answer.status, read(answer.text)], [status, expected], path)
}

function read(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
