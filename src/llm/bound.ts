/**
 * What only the model that made it can read: signatures, encrypted reasoning, marks on a part of a reply. In a history it
 * is marked with its driver and model, so that no other model is sent it. Anthropic's own signatures have no mark: they are
 * kept as they came.
 */

/** No vendor's own signature begins so: they are base64. */
const MARK = "@";

export interface Maker {
  readonly driver: string;
  /** The id that was asked for. */
  readonly model: string;
}

export function bind({ driver, model }: Maker, data: string): string {
  return `${MARK}${driver}/${model}\n${data}`;
}

/** The data, if this model of this driver made it. */
export function unbind({ driver, model }: Maker, bound: string): string | undefined {
  const head = `${MARK}${driver}/${model}\n`;
  return bound.startsWith(head) ? bound.slice(head.length) : undefined;
}

/** Whether a driver marked it. */
export function isBound(text: string): boolean {
  return text.startsWith(MARK);
}

/** How many makers have something kept. */
const MAKERS = 8;

/** What is kept for each maker; of too many, the one that was not used for longest is dropped. */
export class ByMaker<T> {
  readonly #kept = new Map<string, T>();

  of({ driver, model }: Maker, make: () => T): T {
    const key = `${driver}/${model}`;
    const value = this.#kept.get(key) ?? make();
    this.#kept.delete(key);
    this.#kept.set(key, value);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAKERS && oldest !== undefined) this.#kept.delete(oldest);
    return value;
  }
}
