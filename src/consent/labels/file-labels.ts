/**
 * Files written by processes with labels: by path and content, for the whole kernel. A process that reads such a file,
 * or a copy of it, gets its labels. A file whose content has changed counts as another file. Bounded: the least
 * recently used are forgotten.
 */
import { PID_KERNEL } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import { isSame, readLabels, uniteLabels } from "../../kernel/labels/label-set.ts";
import { LIMITS } from "../../kernel/limits.ts";
import { type Journal, type JournalRecord, KERNEL_UUID } from "../../kernel/ports/journal.ts";
import { isWithin } from "../../lib/path.ts";

/**
 * The body of `label.file`, version 1, in the kernel's own history. `labels` empty: a process without labels has
 * overwritten it.
 */
interface LabelFileBody {
  /** Real path. */
  readonly path: string;
  /** In hex. */
  readonly sha256: string;
  readonly labels: readonly Label[];
}

export class FileLabels {
  readonly #journal: Pick<Journal, "note" | "ofKind">;
  /** By path, the least recently used first. */
  readonly #files = new Map<string, LabelFileBody>();

  constructor(journal: Pick<Journal, "note" | "ofKind">) {
    this.#journal = journal;
  }

  get size(): number {
    return this.#files.size;
  }

  /** Reads the files recorded by earlier daemons. */
  async recover(): Promise<void> {
    for (const record of await this.#journal.ofKind(KERNEL_UUID, "label.file")) this.#take(record);
  }

  /** `labels`: of the writing process; empty: the file loses its labels. */
  wrote(path: string, sha256: string, labels: readonly Label[]): void {
    const known = this.#files.get(path);
    if (labels.length === 0 && known === undefined) return;
    if (known?.sha256 === sha256 && isSameSet(known.labels, labels)) return;
    const body: LabelFileBody = { path, sha256, labels };
    this.#set(body);
    this.#journal.note([{ proc: KERNEL_UUID, pid: PID_KERNEL, kind: "label.file", v: 1, body }]);
  }

  /** Known files at the path, and with `subtree` below it. */
  at(path: string, isSubtree: boolean): readonly LabelFileBody[] {
    if (this.#files.size === 0) return [];
    const own = this.#files.get(path);
    if (own !== undefined) this.#set(own);
    if (!isSubtree) return own === undefined ? [] : [own];
    return [...this.#files.values()].filter((file) => isWithin(path, file.path));
  }

  /** The labels of a content, at whatever path it is now. */
  ofContent(sha256: string): readonly Label[] {
    if (this.#files.size === 0) return [];
    const same = [...this.#files.values()].filter((file) => file.sha256 === sha256);
    return same.reduce<readonly Label[]>((all, { labels }) => uniteLabels(all, labels), []);
  }

  #take({ body }: JournalRecord): void {
    const { path, sha256, labels } = (body ?? {}) as Partial<LabelFileBody>;
    if (typeof path !== "string" || typeof sha256 !== "string") return;
    this.#set({ path, sha256, labels: readLabels(labels) });
  }

  #set(body: LabelFileBody): void {
    this.#files.delete(body.path);
    if (body.labels.length > 0) this.#files.set(body.path, body);
    const [oldest] = this.#files.keys();
    if (this.#files.size > LIMITS.labelledFiles && oldest !== undefined) this.#files.delete(oldest);
  }
}

function isSameSet(a: readonly Label[], b: readonly Label[]): boolean {
  return a.length === b.length && a.every((label) => b.some((other) => isSame(label, other)));
}
