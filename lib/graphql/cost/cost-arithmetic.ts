/** Variables as resolvers see them: coerced, defaults filled in. */
export type Variables = Readonly<Record<string, unknown>>

/** A cost that is known, or the step that computes it once the variables are. */
export type Term = number | { readonly step: number }

/** The whole cost: a number, or a function when it depends on variables. */
export type Cost = number | ((variables: Variables) => number)

type Step = (valueOf: (term: Term) => number, variables: Variables) => number

/**
 * How a cost is computed from variables: a list of steps, each reading results of earlier ones. What several places share
 * (a fragment spread twice) is one step, so a request runs as many steps as its document has selections, not as many as
 * its fragments would unfold to.
 */
export class CostPlan {
  readonly #steps: Step[] = []

  sum(terms: readonly Term[]): Term {
    return this.#fold(terms, 0, (sum, value) => sum + value)
  }

  max(terms: readonly Term[]): Term {
    return this.#fold(terms, 0, Math.max)
  }

  /** The term where the condition holds, else nothing. */
  when(condition: (variables: Variables) => boolean, term: Term): Term {
    if (term === 0) return 0
    return this.#add((valueOf, variables) => (condition(variables) ? valueOf(term) : 0))
  }

  /** A cost that an app's function computes from the cost below. What is no cost (negative) counts nothing. */
  apply(compute: (below: number, variables: Variables) => number, below: Term): Term {
    return this.#add((valueOf, variables) => Math.max(0, compute(valueOf(below), variables)))
  }

  /** The cost of one term. */
  finish(term: Term): Cost {
    if (typeof term === 'number') return term
    const steps = this.#steps
    return (variables) => {
      const results: number[] = []
      const valueOf = (term: Term): number => (typeof term === 'number' ? term : (results[term.step] ?? 0))
      for (const step of steps) results.push(step(valueOf, variables))
      return valueOf(term)
    }
  }

  #fold(terms: readonly Term[], start: number, join: (a: number, b: number) => number): Term {
    let known = start
    const open: Term[] = []
    for (const term of terms) {
      if (typeof term === 'number') known = join(known, term)
      else open.push(term)
    }
    if (open.length === 0) return known
    return this.#add((valueOf) => open.reduce<number>((value, term) => join(value, valueOf(term)), known))
  }

  #add(step: Step): Term {
    return { step: this.#steps.push(step) - 1 }
  }
}
