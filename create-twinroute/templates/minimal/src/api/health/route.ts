export const GET = () => ({ status: 'healthy' })
