/**
 * Lets the notes of memory be tidied: once a day at most, after some sessions, an internal fork without the conversation goes
 * through the notes of a folder. The session neither waits for it nor sees it. Where anything is limited, or data of others
 * has been read, nothing is done.
 */
import type { TidyTask } from "../../abi/fork.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Memory } from "../../abi/surroundings.ts";
import type { Sys } from "../../abi/sys.ts";
import type { Source } from "./note-taker.ts";
import { INDEX } from "./tidy-answer.ts";
import { isDue, readTidyFile, type TidyState, writeTidyFile } from "./tidy-file.ts";

const MOST_STEPS = 20;
const MOST_TOKENS = 100_000;
/** How often a session that goes on looks whether notes are due. */
const LOOK_MS = 3_600_000;
/** `write`: for its program, which offers it to no model. */
const TOOLS: readonly string[] = ["glob", "grep", "ls", "view", "write"];

export class Tidier {
  /** This session is counted among those since the last time. */
  #isCounted: boolean;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #fork: Pid | null = null;

  constructor(isCounted = false) {
    this.#isCounted = isCounted;
  }

  /** For the position of the loop. */
  get isCounted(): boolean {
    return this.#isCounted;
  }

  async look({ sys, memory, cwd, prefix }: Omit<Source, "ctxId"> & { readonly cwd: string }): Promise<void> {
    if (memory.isTidied !== true || !sys.mayDoAside() || (await this.#isBusy(sys))) return;
    const now = sys.now();
    if (this.#isCounted && now - this.#lookedAt < LOOK_MS) return;
    const isNew = !this.#isCounted;
    this.#isCounted = true;
    this.#lookedAt = now;
    const due: TidyTask[] = [];
    for (const dir of [memory.local, memory.user]) {
      const files = filesOf(memory, dir);
      if (files.includes(INDEX) && files.length > 2 && isDue(await counted(sys, dir, isNew), now))
        due.push({ dir, files });
    }
    const [task] = due;
    if (task === undefined) return;
    const { prefix: shared } = await prefix();
    this.#fork = await sys.spawn(`<crux-note>Tidy the notes in ${task.dir}.</crux-note>`, null, {
      fork: { label: "tidy", prefix: { ...shared, tidies: task } },
      maxTurns: MOST_STEPS,
      contextBudget: MOST_TOKENS,
      permissionMode: "dont_ask",
      rights: { tools: TOOLS, roots: [cwd, task.dir] },
    });
  }

  async #isBusy(sys: Sys): Promise<boolean> {
    if (this.#fork === null) return false;
    const end = await sys.ended(this.#fork);
    if (end === null) return true;
    this.#fork = null;
    const { code, reason } = end.exit;
    sys.log("info", `memory: ${code === 0 ? end.result : `the notes were not tidied: ${reason}`}`);
    return false;
  }
}

/** Those that hold no data of others, as the process was told at its start. */
function filesOf({ indexes, notes = [] }: Memory, dir: string): readonly string[] {
  const paths = [...indexes, ...notes].map(({ path }) => path);
  return paths.flatMap((path) => {
    const name = path.slice(dir.length + 1);
    return path === `${dir}/${name}` && !name.includes("/") ? [name] : [];
  });
}

async function counted(sys: Sys, dir: string, isNew: boolean): Promise<TidyState> {
  for (let tries = 0; ; tries++) {
    const { state, sha256 } = await readTidyFile(sys, dir);
    if (!isNew) return state;
    const next = { ...state, sessions: state.sessions + 1 };
    // one session more or less does not matter
    if ((await writeTidyFile(sys, dir, { state: next, sha256 })) !== null || tries === 2) return next;
  }
}
