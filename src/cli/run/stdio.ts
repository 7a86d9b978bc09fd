/**
 * What the standard streams of a run mean (`crux "a" | crux "b"`): beside an intent in words, stdin is data, and stdout
 * of a pipeline carries only the result.
 */
import type { Mode } from "../args.ts";
import type { StreamKind } from "../host/stream-kind.ts";

/**
 * Whether stdin is read beside an intent in words. `to_its_end`: a shell has connected it. `if_it_speaks`: a program
 * that starts others often leaves a socket there by accident, so a socket that stays silent for a while is taken as
 * empty.
 */
export function dataUse(stdin: StreamKind): "to_its_end" | "if_it_speaks" | "not_at_all" {
  if (stdin === "pipe" || stdin === "file") return "to_its_end";
  return stdin === "socket" ? "if_it_speaks" : "not_at_all";
}

/** The screen goes to stderr, and stdout carries only the result. An explicitly chosen mode keeps its own output. */
export function isResultAlone(stdout: StreamKind, mode: Mode): boolean {
  return mode === "default" && (stdout === "pipe" || stdout === "file");
}
