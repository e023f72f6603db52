// `npm run test:supply`: the lock files, known vulnerabilities, the list of parts (SBOM), and what keeps a release from being
// published.
import { auditRows } from './audit-rows.js'
import { lockRows } from './lock-rows.js'
import { releaseRows } from './release-rows.js'
import { finish, runRows } from './rows.js'
import { sbomRows } from './sbom-rows.js'

await runRows([...lockRows, ...sbomRows, ...releaseRows, ...(await auditRows())])
process.exit(finish())
