/**
 * What a call would do, as data, before it is done. The dialog, the rules and the audit read the same values.
 * They are an upper bound: an act that its declared effects do not cover is refused.
 * Paths are absolute host paths, `..` and symlinks not yet resolved, unless they begin with a Crux mount (/var/out, /proc).
 */
import type { Usage } from "./llm.ts";
import type { PermissionMode } from "./process.ts";

export type Effect =
  /** `real` is filled in by the gate: `path` with `..` and symlinks resolved. Who declares an effect leaves it out. */
  | { readonly kind: "read"; readonly path: string; readonly subtree?: boolean; readonly real?: string }
  | {
      readonly kind: "write";
      readonly path: string;
      readonly change: "create" | "modify" | "delete";
      readonly real?: string;
    }
  /**
   * `shell` is bash text that the policy analyses itself; `argv` is then ["bash", "-c", shell] and not certain. `unconfined`: it
   * is to run outside the sandbox.
   */
  | {
      readonly kind: "exec";
      readonly argv: readonly string[];
      readonly cwd: string;
      readonly certain: boolean;
      readonly shell?: string;
      readonly unconfined?: true;
    }
  /** `isQuoted`: the address stands word for word in what a person said or a page showed; nothing of it was made up here. */
  | {
      readonly kind: "network";
      readonly host: string;
      readonly port: number;
      readonly method: string;
      /** The whole address, where it is known. */
      readonly url?: string;
      readonly isQuoted?: boolean;
    }
  | { readonly kind: "spawn"; readonly program: string; readonly background: boolean }
  /**
   * Words to another process, or a signal. `to`: a pid, a service of the own compose project, a group by name, `*`. `member`: all
   * names of the one member of that project that it is for. Filled in by the gate; who declares an effect cannot.
   */
  | {
      readonly kind: "message";
      readonly to: string;
      readonly signal?: string;
      readonly member?: readonly string[];
    }
  /** Another permission mode for the caller itself. */
  | { readonly kind: "mode"; readonly to: PermissionMode }
  /** A question that a person answers; the asking itself never asks. */
  | { readonly kind: "person"; readonly question: string }
  /** A model call: left to the budget. */
  | { readonly kind: "llm"; readonly device: string; readonly maxTokens: number }
  /** The caller's own lists, /proc/self, its own outputs: never asks. */
  | { readonly kind: "state"; readonly path: string }
  /** A call of a tool of an MCP server; `tool` "": reading a resource of it. */
  | { readonly kind: "mcp"; readonly server: string; readonly tool: string; readonly host: string }
  | { readonly kind: "unknown"; readonly what: string };

/**
 * What a crash between intent and result means (journal): `none` ask again, `internal` one transaction, `probe` look at
 * the file, `repeat` safe to do again, `once` the outcome is unknown and is said so.
 */
export type EffectClass = "none" | "internal" | "probe" | "repeat" | "once";

/** Tokens and money of one call. `usd` null: the price is not known. */
export interface Charge {
  readonly tokens: number;
  readonly usd: number | null;
  /** Of a model call: who answered, what for, and the tokens as the price list tells them apart. */
  readonly model?: string;
  /** Where another model answered than the one that was asked for. */
  readonly askedModel?: string;
  readonly purpose?: string;
  readonly usage?: Usage;
}

/** What a person is shown when a call must be allowed. `operation` is one line: `edit file: src/a.ts`. */
export interface PermissionView {
  readonly tool: string;
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly diff?: string;
  readonly warnings?: readonly string[];
}
