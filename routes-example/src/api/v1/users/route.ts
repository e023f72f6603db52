// Version 1 is what `/api/users` answers.
export { GET } from '../../users/route.js'
