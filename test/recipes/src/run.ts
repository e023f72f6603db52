// `npm run test:recipes`: the configuration files of docs/deploy.md, by the programs that read them or by their schemas.
import { tryContainers } from './container-rows.js'
import { tryKubernetes } from './kubernetes-rows.js'
import { tryNginx } from './nginx-rows.js'
import { tryPm2 } from './pm2-rows.js'
import { finish } from './rows.js'
import { trySystemd } from './systemd-rows.js'

const wanted = process.argv.slice(2)
const parts = {
  nginx: tryNginx,
  systemd: trySystemd,
  pm2: tryPm2,
  containers: tryContainers,
  kubernetes: tryKubernetes
}
for (const [name, run] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) await run()
}
process.exit(finish())
