/**
 * The key of a model provider, as a form: it is typed, tried by one small call, and only then stored. `crux auth login` and
 * the first use of the interactive terminal ask with it.
 */
import {
  CREDENTIAL_DRIVERS,
  CREDENTIAL_VARIABLES,
  type CredentialDriver,
  credentialEnv,
  namesDriver,
} from "../../abi/credentials.ts";
import { Fault } from "../../abi/errors.ts";
import type { Call } from "../command.ts";
import type { DaemonClient } from "../daemon/client.ts";
import { invalid } from "../screen/errors.ts";
import { en } from "../screen/words/en.ts";
import { Keyboard } from "../terminal/keyboard.ts";
import { enterLine } from "../terminal/line-entry.ts";
import type { Output } from "../terminal/streams.ts";
import { clientEnvironment } from "./environment.ts";
import { tryModel } from "./try-model.ts";

const SHOWN_CHARS = 4;

/** What is known before the form is shown. */
export interface Given {
  readonly driver?: CredentialDriver | undefined;
  readonly url?: string | undefined;
  /** Shown above the form. */
  readonly lead?: string;
}

export interface Login {
  readonly driver: CredentialDriver;
  readonly key: string;
  readonly baseUrl: string | undefined;
}

/** "interrupted": Ctrl-C. "skipped": Esc or Ctrl-D. INVALID: what was typed is not a provider or not a key. */
export async function askLogin(
  { host, console }: Pick<Call, "host" | "console">,
  terminal: Output,
  { driver: known, url: knownUrl, lead = "" }: Given,
): Promise<Login | "skipped" | "interrupted"> {
  const words = console.catalogue.login;
  const left = new AbortController();
  const write = (text: string): Promise<void> => new Promise((done) => void terminal.write(text, done));
  using keyboard = new Keyboard(host.stdin, () => left.abort());
  await keyboard.open(left.signal);
  if (lead !== "") await write(`${lead}\n`);
  const ask = (prompt: string, isHidden = false) =>
    enterLine({ keyboard, write, columns: terminal.columns }, { prompt, initial: "", isHidden }, left.signal);
  const givenUp = () => (left.signal.aborted ? "interrupted" : "skipped");
  const name = known ?? (await ask(words.provider(CREDENTIAL_DRIVERS.join(", "))));
  if (name === undefined) return givenUp();
  const driver = driverOf(name.trim(), words);
  if (namesDriver(host.env, driver)) await write(`! ${ownWords(driver, words)}\n`);
  let url = knownUrl ?? (await ask(words.baseUrl));
  while (url !== undefined && !isBaseUrl(url.trim())) {
    await write(`! ${words.notUrl}\n`);
    url = await ask(words.baseUrl);
  }
  if (url === undefined) return givenUp();
  const key = await ask(words.key, true);
  if (key === undefined) return givenUp();
  return { driver, key: checkedKey(key.trim(), words), baseUrl: url.trim() === "" ? undefined : url.trim() };
}

/** Says how the model answered. DRIVER: it did not, so nothing that does not work is stored. */
export async function tryLogin(
  { host, console }: Pick<Call, "host" | "console">,
  { driver, key, baseUrl }: Login,
): Promise<string> {
  const words = console.catalogue.login;
  const credential = { key, ...(baseUrl === undefined ? {} : { baseUrl }) };
  const env = { ...withoutDriver(clientEnvironment(host.env), driver), ...credentialEnv(driver, credential) };
  const answer = await tryModel(host, { env, model: driver });
  if (answer.kind === "answered") return words.answered(answer.tokens);
  const why = answer.kind === "failed" ? answer.why : words.noModel;
  throw new Fault({
    code: "DRIVER",
    message: words.failed(why),
    hint: words.failedHint,
  });
}

/** `ends_with`: as much of the key as is shown again. */
export async function storeLogin(
  { host, console }: Pick<Call, "host" | "console">,
  client: Pick<DaemonClient, "request">,
  { driver, key, baseUrl }: Login,
): Promise<{ readonly place: "keychain" | "file"; readonly file: string; readonly ends_with: string }> {
  const request = { driver, key, ...(baseUrl === undefined ? {} : { base_url: baseUrl }) };
  const { file, place } = await client.request("credential.set", request);
  if (namesDriver(host.env, driver)) await console.notice(`! ${ownWords(driver, console.catalogue.login)}`);
  return { place, file, ends_with: key.slice(-SHOWN_CHARS) };
}

export function driverOf(name: string, words = en.login): CredentialDriver {
  const driver = CREDENTIAL_DRIVERS.find((each) => each === name);
  if (driver !== undefined) return driver;
  throw invalid(words.unknown(name), words.providers(CREDENTIAL_DRIVERS.join(", ")));
}

export function checkedKey(key: string, words = en.login): string {
  if (/^[\x21-\x7e]{8,4096}$/.test(key)) return key;
  throw invalid(words.notKey);
}

/** "": the provider's own. */
function isBaseUrl(text: string): boolean {
  return text === "" || (/^https?:\/\/[^\s/]/i.test(text) && URL.canParse(text));
}

function ownWords(driver: CredentialDriver, words: typeof en.login): string {
  const { key, baseUrl } = CREDENTIAL_VARIABLES[driver];
  return words.environment(key, baseUrl);
}

function withoutDriver(env: Record<string, string>, driver: CredentialDriver): Record<string, string> {
  const names = Object.values(CREDENTIAL_VARIABLES[driver]) as string[];
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}
