/** The pipes of a project: one inlet per reader, kept while it may still be read or written. */
import type { ComposePipe } from "../../abi/compose/compose.ts";
import { messageOf } from "../../abi/errors.ts";
import type { Spool } from "../../kernel/ports/spools.ts";
import { Inlet } from "./inlet.ts";

export class ProjectPipes {
  readonly #open: () => Spool;
  readonly #warn: (message: string) => void;
  #pipes: readonly ComposePipe[] = [];
  readonly #inlets = new Map<string, Inlet>();
  /** Inlets of pipes that are no longer in the file, while a run of their reader still reads. */
  readonly #retired = new Set<Inlet>();
  readonly #removing = new Set<Promise<void>>();

  /** `warn`: a failed removal is only logged. */
  constructor(open: () => Spool, warn: (message: string) => void) {
    this.#open = open;
    this.#warn = warn;
  }

  /** Opens inlets for readers without one, and for `fresh` ones. Errors: those of the disk; nothing is changed then. */
  prepare(
    pipes: readonly ComposePipe[],
    isThere: (service: string) => boolean,
    fresh: ReadonlySet<string>,
  ): ReadonlyMap<string, Inlet> {
    const readers = new Set(pipes.map(({ to }) => to).filter(isThere));
    const missing = [...readers].filter((to) => fresh.has(to) || !this.#inlets.has(to));
    return new Map(missing.map((to) => [to, new Inlet(this.#open())]));
  }

  /** Replaces pipes and inlets at once; resolves when the replaced inlets are removed. */
  adopt(pipes: readonly ComposePipe[], prepared: ReadonlyMap<string, Inlet>): Promise<void> {
    const left = [...this.#inlets].filter(([to]) => prepared.has(to)).map(([, inlet]) => inlet);
    this.#pipes = pipes;
    for (const [to, inlet] of this.#inlets) {
      if (pipes.some((pipe) => pipe.to === to)) continue;
      this.#inlets.delete(to);
      if (inlet.isRead) this.#retire(inlet);
      else left.push(inlet);
    }
    for (const [to, inlet] of prepared) this.#inlets.set(to, inlet);
    return this.#remove(left);
  }

  inletOf(service: string): Inlet | undefined {
    return this.#inlets.get(service);
  }

  outletsOf(service: string, stream: ComposePipe["stream"]): readonly Inlet[] {
    return this.#pipes
      .filter((pipe) => pipe.from === service && pipe.stream === stream)
      .flatMap(({ to }) => this.#inlets.get(to) ?? []);
  }

  /**
   * Ends the inlet of a reader when all its writers have ended, and breaks it for the writers when the reader has
   * ended.
   */
  settle(isOver: (service: string) => boolean): void {
    for (const [to, inlet] of this.#inlets) {
      const writers = this.#pipes.filter((pipe) => pipe.to === to);
      if (writers.every(({ from }) => isOver(from))) inlet.end();
      if (isOver(to)) inlet.break();
    }
  }

  async close(): Promise<void> {
    const all = [...this.#inlets.values(), ...this.#retired];
    this.#inlets.clear();
    this.#retired.clear();
    await this.#remove(all);
    await Promise.all(this.#removing);
  }

  async #remove(inlets: readonly Inlet[]): Promise<void> {
    const removals = inlets.map((inlet) => inlet.remove());
    for (const removal of await Promise.allSettled(removals))
      if (removal.status === "rejected") this.#warn(`removing a pipe: ${messageOf(removal.reason)}`);
  }

  /** Lets the present run read the inlet to its end, then removes it; a later run gets another fd 0, or none. */
  #retire(inlet: Inlet): void {
    inlet.end();
    this.#retired.add(inlet);
    inlet.onUnread = () => {
      if (!this.#retired.delete(inlet)) return;
      const removing = this.#remove([inlet]).finally(() => this.#removing.delete(removing));
      this.#removing.add(removing);
    };
  }
}
