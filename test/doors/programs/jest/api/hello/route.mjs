export const GET = () => ({ hello: 'world' })
