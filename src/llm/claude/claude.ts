/**
 * The user's own `claude` program with its own login. One run of it answers the requests of a process, as long as each
 * goes on from the one before, so that what it has sent stays in its server's cache. Another conversation (after a fork, an
 * undo, a compaction, a crash of the program) begins a new one, which is told the whole history.
 */
import { rm } from "node:fs/promises";
import { isBadInput, type ModelCard, type StreamEvent, type Usage } from "../../abi/llm.ts";
import type { HostExec } from "../../kernel/ports/host.ts";
import { findOnPath } from "../../lib/program-file.ts";
import { cardOf, costOf } from "../cards.ts";
import type { AttemptRequest, Check, Driver, DriverCaller } from "../driver.ts";
import { fold } from "../fold.ts";
import { cancelled } from "../http/failure.ts";
import { ClaudeChild, LostCall } from "./child.ts";
import { type Known, type NextTurn, nextTurn } from "./continuation.ts";
import { CLAUDE_DEVICE, INSTALL_HINT, notInstalled } from "./failure.ts";
import { renderHistory } from "./history.ts";
import { prepareLaunch } from "./launch.ts";

/** A run of the program that waits for the next request. */
interface Kept {
  readonly child: ClaudeChild;
  /** What it was started with. */
  readonly key: string;
  readonly known: Known;
}

/** A run of the program, and what it is told. */
interface Begun {
  readonly child: ClaudeChild;
  readonly next: NextTurn;
}

const OUTDATED = `claude does not say which of its calls it makes, so it was told the conversation anew. Update it: ${INSTALL_HINT}`;

export class ClaudeDriver implements Driver {
  readonly name = "claude";
  readonly #caller: DriverCaller;
  readonly #exec: HostExec;
  readonly #tmpDir: string;
  #kept: Kept | undefined;

  /** Each run of the program gets its own folder below `tmpDir`. */
  constructor(caller: DriverCaller, exec: HostExec, tmpDir: string) {
    this.#caller = caller;
    this.#exec = exec;
    this.#tmpDir = tmpDir;
  }

  card(model: string): ModelCard {
    return cardOf("claude", model);
  }

  cost(model: string, usage: Usage): number | null {
    return costOf("claude", model, usage);
  }

  async *stream(request: AttemptRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const program = findOnPath("claude", this.#caller.env.PATH);
    if (program === undefined) throw notInstalled();
    if (signal.aborted) throw cancelled(CLAUDE_DEVICE, signal.reason);
    // a summary or a title is no part of the conversation
    const isAside = request.purpose !== "main";
    const key = this.#keyOf(request);
    const kept = isAside ? undefined : await this.#taken(key, request);
    try {
      if (kept !== undefined) return yield* this.#answered(kept, { request, key }, signal);
    } catch (error) {
      if (!(error instanceof LostCall)) throw error;
      // nothing was asked of the model yet: another run is told what this one could not be
      request.warn?.(OUTDATED);
    }
    yield* this.#answered(await this.#started(program, request), { request, key }, signal);
  }

  async *#answered(
    { child, next }: Begun,
    { request, key }: { readonly request: AttemptRequest; readonly key: string },
    signal: AbortSignal,
  ): AsyncGenerator<StreamEvent> {
    const events: StreamEvent[] = [];
    for await (const event of child.turn(next, signal)) {
      events.push(event);
      if (event.type !== "message_stop") {
        yield event;
        continue;
      }
      const { blocks: reply, stopReason } = await fold(each(events));
      const isKept = request.purpose === "main" && mayGoOn(request, { reply, stopReason });
      if (isKept) this.#kept = { child, key, known: { sent: request.messages, reply } };
      else await child.end();
      yield event;
    }
  }

  async check(): Promise<Check> {
    if (findOnPath("claude", this.#caller.env.PATH) !== undefined) return { ok: true };
    return { ok: false, error: notInstalled(), hint: INSTALL_HINT };
  }

  async close(): Promise<void> {
    const kept = this.#kept;
    this.#kept = undefined;
    await kept?.child.end();
  }

  /** The run that waits, if the request goes on from what it knows; else it is ended. */
  async #taken(key: string, request: AttemptRequest): Promise<Begun | undefined> {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept === undefined) return undefined;
    const { child } = kept;
    const isFit = !child.isOver && kept.key === key;
    const next = isFit ? nextTurn(kept.known, request.messages) : undefined;
    if (next !== undefined) return { child, next };
    await child.end();
    return undefined;
  }

  async #started(program: string, request: AttemptRequest): Promise<Begun> {
    const host = { program, callerEnv: this.#caller.env, tmpDir: this.#tmpDir };
    const launch = await prepareLaunch(host, request, this.#limitsOf(request));
    const next: NextTurn = { kind: "message", texts: [renderHistory(request.messages)] };
    try {
      return { child: new ClaudeChild(this.#exec, this.#caller, launch, request.tools), next };
    } catch (error) {
      await rm(launch.folder, { recursive: true, force: true });
      throw error;
    }
  }

  #limitsOf({ model, maxOutputTokens }: AttemptRequest): Pick<ModelCard, "id" | "maxOutputTokens"> {
    const card = this.card(model);
    return { id: card.id, maxOutputTokens: Math.min(maxOutputTokens, card.maxOutputTokens) };
  }

  #keyOf(request: AttemptRequest): string {
    return JSON.stringify([this.#limitsOf(request), request.system, request.tools]);
  }
}

/**
 * Whether the program waits for the loop after this reply. After any other it would ask its model by itself: it continues
 * what was cut off, and answers a call that it cannot make.
 */
function mayGoOn(
  { tools }: AttemptRequest,
  { reply, stopReason }: Pick<Folded, "stopReason"> & { reply: Known["reply"] },
) {
  if (stopReason !== "end_turn" && stopReason !== "tool_use") return false;
  const names = new Set(tools.map(({ name }) => name));
  return reply.every(
    (block) => block.type !== "tool_use" || (names.has(block.name) && !isBadInput(block.input)),
  );
}

type Folded = Awaited<ReturnType<typeof fold>>;

async function* each<T>(list: readonly T[]): AsyncGenerator<T> {
  yield* list;
}
