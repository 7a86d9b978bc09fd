/** The lines of `crux compose up` and `logs` (manual 8), each made from one event; without final newlines. */
import type { ProjectEventWire } from "../../abi/compose/wire.ts";
import { seconds } from "./text/elapsed.ts";
import type { Paint } from "./text/paint.ts";
import { safeLine, safeLines } from "./text/safe-text.ts";
import { padToWidth, widthOf } from "./text/width.ts";

/** `reasons`: also says why a service exited as it did. */
export function projectLine(
  event: Exclude<ProjectEventWire, { event: "log" }>,
  paint: Paint,
  reasons: boolean,
): string {
  const name = "child" in event ? event.child : event.project;
  return `[compose] ${safeLine(name)}: ${wordsOf(event, paint, reasons)}`;
}

function wordsOf(event: Exclude<ProjectEventWire, { event: "log" }>, paint: Paint, reasons: boolean): string {
  switch (event.event) {
    case "starting":
      if (event.services === 0) return "nothing to start";
      return `starting ${event.services} ${event.services === 1 ? "service" : "services"}`;
    case "started":
      return `started (PID ${event.pid})`;
    case "waiting":
      return `waiting for ${safeLine(event.on)} (${event.condition})`;
    case "exited": {
      const exited = `exited(${event.code})`;
      const mark = event.code === 0 ? paint.green(exited) : paint.red(exited);
      return reasons ? `${mark} | ${safeLine(event.reason)}` : mark;
    }
    case "restarting":
      return `restarting in ${seconds(event.delay_ms)} (${event.restarts}/${event.max})`;
    case "skipped":
      return paint.red(`skipped (${safeLine(event.reason)})`);
    case "up":
      return `up (PID ${event.pid})`;
    case "done":
      return `done | tokens: ${event.tokens} | elapsed: ${seconds(event.elapsed_ms)}`;
    case "failed":
      return paint.red(`failed (${safeLine(event.reason)})`);
    case "stopped":
      return "stopped";
  }
}

/** The prefix of a child's log line: as wide as the longest name, in the colour of its service. */
export class LogPrefix {
  readonly #width: number;
  readonly #services: readonly string[];
  readonly #paint: Paint;

  constructor(children: readonly string[], paint: Paint) {
    this.#width = Math.max(0, ...children.map(widthOf));
    this.#services = [...new Set(children.map(serviceOf))];
    this.#paint = paint;
  }

  line(child: string, text: string): string {
    const hue = Math.max(0, this.#services.indexOf(serviceOf(child)));
    const prefix = this.#paint.hue(hue, `${padToWidth(safeLine(child), this.#width)} |`);
    return `${prefix} ${safeLines(text).replaceAll("\n", "\\n")}`;
  }
}

/** The service of a replica: `writer-1` belongs to `writer`. */
function serviceOf(child: string): string {
  return child.slice(0, child.lastIndexOf("-"));
}
