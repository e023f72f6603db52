import type { Response as ExpressResponse } from 'express'

/** The response every middleware and handler receives: Express 5's own. */
export interface Response extends ExpressResponse {}
