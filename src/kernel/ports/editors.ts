/** Editors that show the files of a session: they know text that is not saved, and write files themselves. */
import type { Pid } from "../../abi/ids.ts";

/** What an editor is asked for. `path`: an absolute host path without links. */
export type EditorRequest =
  | { readonly id: string; readonly op: "read"; readonly path: string }
  | { readonly id: string; readonly op: "write"; readonly path: string; readonly text: string };

/** `text`: what was read. `error`: why it was not done. */
export interface EditorAnswer {
  readonly text?: string | undefined;
  readonly error?: string | undefined;
}

export interface EditorLink {
  /** Requests in progress fail. Idempotent. */
  close(): void;
}

interface EditorAbilities {
  readonly reads: boolean;
  readonly writes: boolean;
}

export interface EditorDesk {
  /** The newest editor of a session is the one that is asked. `send` false: it has left. */
  serve(pid: Pid, abilities: EditorAbilities, send: (request: EditorRequest) => Promise<boolean>): EditorLink;
  /** NOT_FOUND: no such request is open. */
  answer(id: string, answer: EditorAnswer): void;
}
