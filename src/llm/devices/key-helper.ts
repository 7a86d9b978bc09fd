/**
 * Keys that a program of the user prints (`apiKeyHelper` in the settings), where the environment has none. It is asked when
 * the first request needs the key, again after a while, and after a refusal of the key. Its key is in memory alone.
 */
import { CREDENTIAL_VARIABLES, type CredentialDriver } from "../../abi/credentials.ts";
import type { ModelCard, StreamEvent, Usage } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import type { Clock } from "../../abi/program.ts";
import type { HostExec } from "../../kernel/ports/host.ts";
import { abortable } from "../../lib/abort.ts";
import type { AttemptRequest, Check, Driver } from "../driver.ts";
import type { ModelSettings } from "../own-models.ts";
import { startTimer } from "../timer.ts";

/** How long a key is used before the program is asked again. */
const KEPT_MS = 5 * 60_000;
/** A program may wait for a touch of the user. */
const RUN_MS = 60_000;
const MAX_BYTES = 16 * 1024;
const SAID_CHARS = 300;

type Env = Readonly<Record<string, string>>;

/** The command that prints the key of a driver. undefined: none is set. A single one is for Anthropic's. */
export function helperOf({ apiKeyHelper }: ModelSettings, driver: string): string | undefined {
  if (typeof apiKeyHelper === "string") return driver === "anthropic" ? apiKeyHelper : undefined;
  return Object.entries(apiKeyHelper ?? {}).find(([name]) => name === driver)?.[1];
}

export interface KeyHelping {
  readonly exec: Pick<HostExec, "run">;
  readonly clock: Clock;
  /** The command, as the settings have it now; undefined: none. */
  readonly command: () => string | undefined;
  /** Told each key before anything is done with it. */
  readonly learn: (secrets: readonly string[]) => void;
}

interface Keyed {
  readonly driver: Driver;
  readonly key: string;
  users: number;
}

/** The driver of a vendor, made anew for each key. */
export class HelpedDriver implements Driver {
  readonly name: string;
  readonly #env: Env;
  readonly #make: (env: Env) => Driver;
  readonly #helping: KeyHelping;
  /** For what needs no key. */
  readonly #bare: Driver;
  #keyed: Keyed | undefined;
  #asked: { readonly command: string; readonly atMs: number; readonly key: Promise<string> } | undefined;
  /** The last key was refused, and none was taken since. */
  #isRefused = false;

  constructor(env: Env, make: (env: Env) => Driver, helping: KeyHelping) {
    this.#env = env;
    this.#make = make;
    this.#helping = helping;
    this.#bare = make(env);
    this.name = this.#bare.name;
  }

  card(model: string): ModelCard {
    return this.#bare.card(model);
  }

  cost(model: string, usage: Usage): number | null {
    return this.#bare.cost(model, usage);
  }

  async *stream(request: AttemptRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const keyed = await this.#take(signal);
    try {
      for await (const event of keyed.driver.stream(request, signal)) {
        this.#isRefused = false;
        yield event;
      }
    } catch (error) {
      throw this.#failure(error, keyed);
    } finally {
      await this.#release(keyed);
    }
  }

  async check(signal: AbortSignal): Promise<Check> {
    const keyed = await this.#take(signal);
    try {
      return await keyed.driver.check(signal);
    } finally {
      await this.#release(keyed);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#bare.close(), this.#keyed?.driver.close()]);
  }

  /** The driver with the present key; without a program, the one that says what is missing. */
  async #take(signal: AbortSignal): Promise<Keyed> {
    const command = this.#helping.command();
    if (command === undefined) return { driver: this.#bare, key: "", users: 1 };
    const key = await abortable(this.#key(command), signal);
    const last = this.#keyed;
    if (last?.key === key) {
      last.users++;
      return last;
    }
    const keyed = { driver: this.#make({ ...this.#env, [this.#keyName]: key }), key, users: 1 };
    this.#keyed = keyed;
    if (last?.users === 0) await last.driver.close();
    return keyed;
  }

  async #release(keyed: Keyed): Promise<void> {
    keyed.users--;
    if (keyed.users === 0 && keyed !== this.#keyed && keyed.driver !== this.#bare) await keyed.driver.close();
  }

  /** Other servers of the vendor's form want the key as a token, where the vendor has both. */
  get #keyName(): string {
    const { key, baseUrl, other } = CREDENTIAL_VARIABLES[this.name as CredentialDriver];
    return other === "ANTHROPIC_AUTH_TOKEN" && (this.#env[baseUrl] ?? "") !== "" ? other : key;
  }

  /** Callers at the same time share one run, which therefore does not end with the first of them. */
  #key(command: string): Promise<string> {
    const now = this.#helping.clock.mono();
    const known = this.#asked;
    if (known?.command === command && now - known.atMs < KEPT_MS) return known.key;
    const key = this.#run(command);
    const asked = { command, atMs: now, key };
    this.#asked = asked;
    key.catch(() => {
      if (this.#asked === asked) this.#asked = undefined;
    });
    return key;
  }

  /** A key that is refused is asked for again, once. */
  #failure(error: unknown, { key }: Keyed): unknown {
    if (!(error instanceof LlmError) || error.kind !== "auth" || key === "") return error;
    const { device, status, message } = error;
    const isFirst = !this.#isRefused;
    this.#isRefused = true;
    if (this.#keyed?.key === key) this.#asked = undefined;
    return new LlmError({
      ...{ kind: "auth", device, status },
      ...(isFirst ? { shouldRetry: true, retryAfterMs: 0 } : {}),
      message: message.replace(` in ${this.#keyName}`, " that apiKeyHelper printed"),
      hint: "Run the program that apiKeyHelper names, and see whether its key is valid there.",
    });
  }

  async #run(command: string): Promise<string> {
    const { exec, clock, learn } = this.#helping;
    const parts: { readonly stdout: Buffer[]; readonly stderr: Buffer[] } = { stdout: [], stderr: [] };
    let bytes = 0;
    const limit = new AbortController();
    const stopTimer = startTimer(clock, RUN_MS, () => limit.abort(new Error("the time is up")));
    const child = exec.run(
      {
        argv: ["/bin/sh", "-c", command],
        // never in a project, whose files a relative name would mean
        cwd: this.#env.HOME || "/",
        env: this.#env,
        owner: "apiKeyHelper",
        onOutput: (stream, chunk) => {
          bytes += chunk.byteLength;
          if (bytes <= MAX_BYTES) parts[stream].push(chunk);
        },
      },
      limit.signal,
    );
    const { code, signal, error } = await child.exited.finally(stopTimer);
    const [key = "", said = ""] = [parts.stdout, parts.stderr].map((each) =>
      Buffer.concat(each).toString("utf8").trim(),
    );
    if (key !== "") learn([key]);
    if (limit.signal.aborted) throw this.#unhelped(`did not answer within ${RUN_MS / 1000} s`);
    if (error !== undefined) throw this.#unhelped(`did not start: ${error.message}`);
    if (code !== 0) throw this.#unhelped(`failed (${signal ?? code}): ${said.slice(0, SAID_CHARS)}`);
    if (bytes > MAX_BYTES) throw this.#unhelped(`printed more than ${MAX_BYTES} bytes`);
    if (key === "") throw this.#unhelped("printed no key");
    return key;
  }

  #unhelped(what: string): LlmError {
    return new LlmError({
      kind: "auth",
      device: `/dev/llm/${this.name}`,
      message: `the program in apiKeyHelper ${what}`,
      hint: "Run it yourself to see what is wrong: it must print the key, and nothing else.",
    });
  }
}
