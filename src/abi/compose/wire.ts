/**
 * Lines of a compose.up or compose.logs stream: of type `log` for `log`, `event` for all else; then `eof`. Types only.
 */
import type { DependsCondition } from "./compose.ts";

export type ProjectEventWire =
  | { event: "starting"; project: string; services: number }
  /** `notice`: a line to show before anything else of this process (a script is answering, …). */
  | { event: "started"; child: string; pid: number; notice?: string }
  | { event: "waiting"; child: string; on: string; condition: DependsCondition }
  | { event: "log"; child: string; text: string }
  | { event: "exited"; child: string; code: number; reason: string }
  | { event: "restarting"; child: string; delay_ms: number; restarts: number; max: number }
  | { event: "skipped"; child: string; reason: string }
  | { event: "up"; project: string; pid: number }
  | { event: "done"; project: string; tokens: number; elapsed_ms: number; code: number }
  | { event: "failed"; project: string; reason: string; code: number }
  | { event: "stopped"; project: string };

/** In an `eof`: the number of events dropped because the client was too slow. */
export interface StreamEnd {
  dropped: number;
}
