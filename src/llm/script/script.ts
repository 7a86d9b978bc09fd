/**
 * The deterministic player, for tests, for `crux demo`, and for users who have no model yet. The scenario is the file
 * in the path, else CRUX_SCENARIO, else the shipped survey.
 */
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { DriverError } from "../../abi/errors.ts";
import type { ModelCard, StreamEvent, Usage } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import type { Clock } from "../../abi/program.ts";
import type { AttemptRequest, Check, Driver, DriverCaller } from "../driver.ts";
import { cancelled } from "../http/failure.ts";
import type { Conversation } from "./conversation.ts";
import { Cursor } from "./cursor.ts";
import { play } from "./play.ts";
import { parseScenario, type Scenario } from "./scenario.ts";
import type { Variables } from "./template.ts";

const device = "/dev/llm/script";
const maxScenarioBytes = 4 * 1024 * 1024;

/**
 * A process's position in its scenario; it is shared by all files that the process opens, and ends with the process.
 */
interface Place {
  readonly cursor: Cursor;
  scenario: Promise<Scenario> | undefined;
  attempts: number;
}

/** The places of all processes, one per process and scenario; owned by the device. */
export class Places {
  readonly #places = new Map<string, Place>();

  of(caller: DriverCaller, path: string): Place {
    const key = `${caller.uuid}\n${path}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place: Place = { cursor: new Cursor(), scenario: undefined, attempts: 0 };
    if (caller.signal.aborted) return place;
    this.#places.set(key, place);
    caller.signal.addEventListener("abort", () => this.#places.delete(key), { once: true });
    return place;
  }

  get size(): number {
    return this.#places.size;
  }
}

export class ScriptDriver implements Driver {
  readonly name = "script";
  readonly #caller: DriverCaller;
  readonly #path: string;
  readonly #place: Place;
  readonly #clock: Clock;
  #card: Scenario["card"] = {};

  constructor(caller: DriverCaller, file: string, places: Places, clock: Clock) {
    this.#caller = caller;
    this.#path = file === "" ? findScenario(caller) : resolve(caller.cwd, file);
    this.#place = places.of(caller, this.#path);
    this.#clock = clock;
  }

  async prepare(): Promise<void> {
    await this.#load();
  }

  card(model: string): ModelCard {
    const {
      maxInputTokens = 200_000,
      maxOutputTokens = 32_000,
      price = { input: 0, output: 0 },
    } = this.#card;
    return {
      id: model || "script",
      driver: this.name,
      maxInputTokens,
      maxOutputTokens,
      supports: { tools: true, parallelTools: true, images: false },
      price,
      known: true,
    };
  }

  cost(_model: string, usage: Usage): number {
    const { input, output } = this.#card.price ?? { input: 0, output: 0 };
    return (usage.input_tokens * input + usage.output_tokens * output) / 1_000_000;
  }

  async *stream(request: AttemptRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    try {
      const scenario = await this.#load();
      const cue = this.#place.cursor.next(scenario, request, (conversation) => this.#variables(conversation));
      if (cue === undefined) throw unmatched(scenario, request);
      const name = `${this.#caller.pid}_${++this.#place.attempts}`;
      const variables = this.#variables(cue.conversation);
      const stage = { request, model: request.model || "script", variables, name, clock: this.#clock };
      yield* play(cue, stage, signal);
    } catch (error) {
      if (signal.aborted) throw cancelled(device, signal.reason);
      if (error instanceof RangeError) throw invalid(`${this.#path}: ${error.message}`);
      throw error;
    }
  }

  async check(): Promise<Check> {
    try {
      await this.#load();
      return { ok: true };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return {
        ok: false,
        error: new LlmError({ kind: "invalid", device, message }),
        hint: "Fix the scenario.",
      };
    }
  }

  async close(): Promise<void> {}

  async #load(): Promise<Scenario> {
    this.#place.scenario ??= readScenario(this.#path);
    try {
      const scenario = await this.#place.scenario;
      this.#card = scenario.card;
      return scenario;
    } catch (error) {
      this.#place.scenario = undefined;
      throw error;
    }
  }

  #variables(conversation: Conversation): Variables {
    const { cwd, pid, env } = this.#caller;
    return { cwd, pid, scratch: env.CRUX_SCRATCH || `/tmp/crux-script-${pid}`, conversation };
  }
}

async function readScenario(path: string): Promise<Scenario> {
  let text: string;
  try {
    const { size } = await stat(path);
    if (size > maxScenarioBytes) throw invalid(`the scenario ${path} is over ${maxScenarioBytes} bytes`);
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof DriverError) throw error;
    throw new DriverError({
      code: "NOT_FOUND",
      op: "Open",
      device,
      message: `scenario not found: ${path}`,
      hint: "CRUX_SCENARIO names the file.",
      cause: error,
    });
  }
  return parseScenario(text, path);
}

function findScenario(caller: DriverCaller): string {
  const named = caller.env.CRUX_SCENARIO ?? "";
  return named === "" ? shippedScenario() : resolve(caller.cwd, named);
}

/** The path of the survey, which is shipped beside the program, both with its sources and in a build. */
function shippedScenario(): string {
  const inside = "lib/scenarios/survey.yaml";
  for (let at = import.meta.dirname; at !== dirname(at); at = dirname(at)) {
    const path = join(at, inside);
    if (existsSync(path)) return path;
  }
  return inside;
}

function unmatched(scenario: Scenario, request: AttemptRequest): LlmError {
  const turn = request.messages.filter(({ role }) => role === "assistant").length + 1;
  const who = request.metadata?.agent === undefined ? "" : `agent ${request.metadata.agent}, `;
  return new LlmError({
    kind: "invalid",
    device,
    message: `scenario ${scenario.scenario} has nothing to play for ${who}turn ${turn}`,
  });
}

function invalid(message: string): DriverError {
  return new DriverError({ code: "INVALID", op: "Write", device, message });
}
