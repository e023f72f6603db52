import { GraphQLError } from 'graphql'

/** Who asks, as the bearer form knows them. */
export interface Asker {
  id: string
  role: string
}

/** Whether somebody may create a post of that author; throws when not. */
export type PostPermission = (asker: Asker | null, authorId: string) => void

/** Admins may create posts of everybody, others their own. */
export const ownPostsOnly: PostPermission = (asker, authorId) => {
  if (asker === null) throw refusal('UNAUTHENTICATED')
  if (asker.role !== 'admin' && asker.id !== authorId) throw refusal('UNAUTHORIZED')
}

export const anyPosts: PostPermission = () => {}

function refusal(code: string): GraphQLError {
  return new GraphQLError(code, { extensions: { code } })
}
