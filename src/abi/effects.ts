/**
 * The effects of a call, declared as data before it is run. The dialog, the rules and the audit read the same values.
 * They are an upper bound: an act that its declared effects do not cover is refused. Paths are absolute host paths,
 * `..` and symlinks not yet resolved, unless they begin with a Crux mount (/var/out, /proc).
 */

import type { Usage } from "./llm.ts";
import type { PermissionMode } from "./process.ts";
import type { Said } from "./sentence.ts";
import type { SkillEffect } from "./skill.ts";

export type Effect =
  /** `real` is set only by the gate: `path` with `..` and symlinks resolved. */
  | { readonly kind: "read"; readonly path: string; readonly subtree?: boolean; readonly real?: string }
  | {
      readonly kind: "write";
      readonly path: string;
      readonly change: "create" | "modify" | "delete";
      readonly real?: string;
    }
  /**
   * `shell` is bash text that the policy analyses itself; `argv` is then ["bash", "-c", shell] and not certain.
   * `unconfined`: it is to run outside the sandbox.
   */
  | {
      readonly kind: "exec";
      readonly argv: readonly string[];
      readonly cwd: string;
      readonly certain: boolean;
      readonly shell?: string;
      readonly unconfined?: true;
    }
  /** `isQuoted`: the address occurs literally in what the user wrote or a page showed; the model did not make it up. */
  | {
      readonly kind: "network";
      readonly host: string;
      readonly port: number;
      readonly method: string;
      /** The whole address, if known. */
      readonly url?: string;
      readonly isQuoted?: boolean;
    }
  /** `skill`: it starts a skill, whose instructions join the conversation; from the tool of that name alone. */
  | {
      readonly kind: "spawn";
      readonly program: string;
      readonly background: boolean;
      readonly skill?: SkillEffect;
    }
  /**
   * A message or a signal to another process. `to`: a pid, a service of the own compose project, a group by name, `*`.
   * `member`: all names of the member of that project that receives it; `names`: those of every other process that does.
   * `isAbove`: its only receiver is an ancestor of the caller, which gets the caller's labels with its result in any case.
   * `isStranger`: it is for a process that takes no message of the caller. All are set only by the gate.
   */
  | {
      readonly kind: "message";
      readonly to: string;
      readonly signal?: string;
      readonly member?: readonly string[];
      readonly names?: readonly string[];
      readonly isAbove?: true;
      readonly isStranger?: true;
    }
  /** A change of the caller's own permission mode. */
  | { readonly kind: "mode"; readonly to: PermissionMode }
  /** A question to the user; asking it needs no approval. */
  | { readonly kind: "person"; readonly question: string }
  /** A model call: limited only by the budget. */
  | { readonly kind: "llm"; readonly device: string; readonly maxTokens: number }
  /** The caller's own lists, /proc/self, its own outputs: never needs approval. */
  | { readonly kind: "state"; readonly path: string }
  /** A call of a tool of an MCP server; `tool` "": reading one of its lists or, with `uri`, a resource. It gets the URI. */
  | {
      readonly kind: "mcp";
      readonly server: string;
      readonly tool: string;
      readonly host: string;
      readonly uri?: string;
    }
  | { readonly kind: "unknown"; readonly what: string };

/**
 * How to treat a crash between intent and result (journal): `none` run again, `internal` one transaction, `probe` look
 * at the file, `repeat` safe to run again, `once` the outcome is unknown and reported as such.
 */
export type EffectClass = "none" | "internal" | "probe" | "repeat" | "once";

/** Tokens and cost of one call. `usd` null: the price is not known. */
export interface Charge {
  readonly tokens: number;
  readonly usd: number | null;
  /**
   * For a model call: the model that answered; `purpose` and `usage` give the purpose and the tokens by price class.
   */
  readonly model?: string;
  /** The requested model, if another one answered. */
  readonly askedModel?: string;
  readonly purpose?: string;
  readonly usage?: Usage;
}

/** What the user is shown when a call needs approval. `operation` is one line: `edit file: src/a.ts`. */
export interface PermissionView {
  readonly tool: string;
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly diff?: string;
  readonly warnings?: readonly Said[];
}
