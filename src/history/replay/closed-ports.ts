/**
 * Ports without an outside. A call of a port is refused and noted; the journal passes records on and is always empty.
 */
import { createSecretKey } from "node:crypto";
import { Fault } from "../../abi/errors.ts";
import { asProcUuid } from "../../abi/ids.ts";
import type { Journal, JournalDraft } from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";

/** The real ports that a replay uses: none of them has effects outside. */
export type OpenPorts = Pick<KernelPorts, "program" | "clock" | "version">;

/** `reached` gets the name of each port that was called. */
export function closedPorts(
  open: OpenPorts,
  hear: (drafts: readonly JournalDraft[]) => void,
  reached: string[],
): KernelPorts {
  const closed = closer(reached);
  let named = 0;
  return {
    journal: heardJournal(hear, reached),
    program: open.program,
    clock: open.clock,
    ...(open.version === undefined ? {} : { version: open.version }),
    permitFor: closed("permitFor"),
    // what a program was started with is in its recording
    models: closedParts<KernelPorts["models"]>("models", reached, { window: () => undefined }),
    exec: closedParts("exec", reached),
    spools: closedParts("spools", reached),
    mcp: closedParts("mcp", reached),
    commandEnv: closed("commandEnv"),
    random: () => 0.5,
    loadAgent: closed("loadAgent"),
    realPath: closed("realPath"),
    grantKey: createSecretKey(new Uint8Array(32)),
    uuid: () => asProcUuid(`00000000-0000-4000-8000-${(++named).toString(16).padStart(12, "0")}`),
    nonce: () => (++named).toString(16).padStart(16, "0"),
    scratchDir: closed("scratchDir"),
    onReaped: async () => {},
    home: "/",
    env: {},
    defaultMaxSteps: 0,
    log: () => {},
  };
}

/** Functions in place of a port: each notes its name and throws. */
function closer(reached: string[]): (name: string) => () => never {
  return (name) => () => {
    reached.push(name);
    throw new Fault({ code: "INTERNAL", message: `a replay reached for ${name}` });
  };
}

/** An object whose methods all throw, except those in `parts`. */
function closedParts<T extends object>(name: string, reached: string[], parts: Partial<T> = {}): T {
  const closed = closer(reached);
  return new Proxy(parts, {
    get: (own, key) => Reflect.get(own, key) ?? closed(`${name}.${String(key)}`),
  }) as T;
}

/**
 * A journal that keeps nothing: the kernel's own look-ups (the length of a history, open calls) find nothing. What the
 * program itself asks for comes from the tape.
 */
function heardJournal(hear: (drafts: readonly JournalDraft[]) => void, reached: string[]): Journal {
  const nothing = async () => undefined;
  const none = async () => [];
  const parts: Partial<Journal> = {
    row: nothing,
    processOf: nothing,
    newest: nothing,
    requested: nothing,
    snapshot: nothing,
    saveSnapshot: nothing,
    rows: none,
    read: none,
    readAt: none,
    openCalls: none,
    unfinished: none,
    liveStates: none,
    liveMail: none,
    liveGroups: none,
    endedMail: none,
    ofKind: none,
    epoch: 1,
    kernelId: "",
    state: { state: "well" },
    onState: () => () => {},
    highestPid: () => 0,
    highestMessage: () => 0,
    note: hear,
    sync: async () => {},
    append: async (drafts) => {
      hear(drafts);
      return drafts.map((_, i) => ({ lsn: i, seq: i }));
    },
  };
  return closedParts("journal", reached, parts);
}
