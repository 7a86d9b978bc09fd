import type { ProjectEventWire, StreamEnd } from "../../../abi/compose/wire.ts";
import type { WireStreamLine } from "../../../abi/wire.ts";
import { counted } from "../../../lib/text/counted.ts";
import type { Console } from "../../console.ts";
import { CONFIGURE_LINES } from "../../run/configure-help.ts";
import { LogPrefix, projectLine } from "../../screen/compose-lines.ts";
import { oneLine } from "../../screen/text/json.ts";
import { safeLine, safeLines } from "../../screen/text/safe-text.ts";

/**
 * Shows the events of a project in the console's mode: JSON prints every event, one per line; quiet prints only the
 * output of services, without prefixes.
 */
export class EventView {
  readonly #console: Console;
  readonly #prefix: LogPrefix;
  readonly #isTerminal: boolean;
  /** Notices already shown: each is shown once for all processes that have it. */
  readonly #told = new Set<string>();

  /**
   * `children`: the possible writers. `isTerminal`: stdout is a terminal, so control sequences in bare text are
   * escaped.
   */
  constructor(console: Console, children: readonly string[], isTerminal: boolean) {
    this.#console = console;
    this.#prefix = new LogPrefix(children, console.paint);
    this.#isTerminal = isTerminal;
  }

  /** Prints up to the end; `isShown` sees every event. False: the stream broke off. */
  async showAll(
    lines: AsyncIterable<WireStreamLine>,
    isShown: (event: ProjectEventWire) => boolean = () => true,
  ): Promise<boolean> {
    for await (const { type, payload } of lines) {
      if (type === "eof") {
        await this.#tellWays();
        await this.#showDropped((payload as StreamEnd | undefined)?.dropped ?? 0);
        return true;
      }
      const event = payload as ProjectEventWire;
      if (isShown(event)) await this.#show(event);
    }
    return false;
  }

  async #show(event: ProjectEventWire): Promise<void> {
    const { mode, paint } = this.#console;
    if (mode === "json") await this.#console.line(oneLine(event));
    else if (event.event === "log") await this.#showLog(event.child, event.text);
    else {
      if (event.event === "started") await this.#tell(event.notice ?? "");
      if (mode !== "quiet") await this.#console.line(projectLine(event, paint, mode === "verbose"));
    }
  }

  /** Printed beside the screen, which stays the same whichever model answers. */
  async #tell(notice: string): Promise<void> {
    if (notice === "" || this.#told.has(notice)) return;
    this.#told.add(notice);
    await this.#console.errorLine(safeLine(notice));
  }

  async #tellWays(): Promise<void> {
    if (this.#told.size > 0) for (const way of CONFIGURE_LINES) await this.#console.errorLine(way);
  }

  async #showLog(child: string, text: string): Promise<void> {
    if (this.#console.mode !== "quiet") await this.#console.line(this.#prefix.line(child, text));
    else await this.#console.line(this.#isTerminal ? safeLines(text) : text);
  }

  async #showDropped(dropped: number): Promise<void> {
    if (dropped > 0) await this.#console.errorLine(`[compose] ${counted(dropped, "line")} dropped`);
  }
}

/** What the file requests and this version does not support: printed beside the screen, in every mode. */
export async function showNotices(console: Console, notices: readonly string[]): Promise<void> {
  for (const notice of notices) await console.errorLine(`[compose] warning: ${safeLine(notice)}`);
}
