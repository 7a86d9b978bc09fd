/**
 * `crux auth`: the keys of model providers. A key is typed or comes on stdin; it is tried before it is stored, and only
 * its last characters are shown again.
 */
import {
  CREDENTIAL_DRIVERS,
  CREDENTIAL_VARIABLES,
  type CredentialDriver,
  credentialEnv,
  namesDriver,
} from "../../../abi/credentials.ts";
import { Fault } from "../../../abi/errors.ts";
import { counted } from "../../../lib/text/counted.ts";
import { textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { questionTerminal } from "../../dialog/questions.ts";
import { clientEnvironment } from "../../run/environment.ts";
import { invalid } from "../../screen/errors.ts";
import { safeLine } from "../../screen/text/safe-text.ts";
import { Keyboard } from "../../terminal/keyboard.ts";
import { enterLine } from "../../terminal/line-entry.ts";
import { readStdin } from "../../terminal/stdin.ts";
import { tryModel } from "./try-model.ts";
import { runVerb, type Verb } from "./verbs.ts";

export const auth: Command = {
  flags: {
    "key-stdin": { type: "boolean" },
    "base-url": { type: "string" },
    "no-check": { type: "boolean" },
    check: { type: "boolean" },
  },
  run: (call) => runVerb(call, VERBS, "status", USAGE),
};

const USAGE =
  "crux auth [status [--check] | login [<provider>] [--key-stdin] [--base-url <url>] | logout <provider>]";
const VERBS: Readonly<Record<string, Verb>> = { login, logout, status };
const SHOWN_CHARS = 4;
const MAX_KEY_BYTES = 4096;

async function login(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const { args, console, host } = call;
  if (words.length > 1) throw invalid(`unknown argument: ${words[1]}`, USAGE);
  const given = {
    driver: words[0] === undefined ? undefined : driverOf(words[0]),
    url: textFlag(args, "base-url"),
  };
  const form = args.flags.has("key-stdin") ? await fromStdin(call, given) : await typed(call, given);
  if (form === undefined) return 130;
  const { driver, key, baseUrl } = form;
  const credential = { key, ...(baseUrl === undefined ? {} : { baseUrl }) };
  const outcome = args.flags.has("no-check") ? "not tried" : await tried(call, driver, credential);
  const request = { driver, key, ...(baseUrl === undefined ? {} : { base_url: baseUrl }) };
  const { file } = await client.request("credential.set", request);
  const ends_with = key.slice(-SHOWN_CHARS);
  if (console.mode === "json") await console.data({ driver, ends_with, file, check: outcome });
  else if (console.mode !== "quiet")
    await console.line(
      `[auth] ${driver}: key …${safeLine(ends_with)} stored in ${safeLine(file)} (${outcome})`,
    );
  if (namesDriver(host.env, driver)) await console.notice(ownWords(driver));
  return 0;
}

/** Nothing is stored that does not work. */
async function tried(
  { host }: Call,
  driver: CredentialDriver,
  credential: { readonly key: string; readonly baseUrl?: string },
): Promise<string> {
  const env = { ...withoutDriver(clientEnvironment(host.env), driver), ...credentialEnv(driver, credential) };
  const answer = await tryModel(host, { env, model: driver });
  if (answer.kind === "answered") return `a test call was answered, ${counted(answer.tokens, "token")}`;
  const why = answer.kind === "failed" ? answer.why : "no model of this provider was found";
  throw new Fault({
    code: "DRIVER",
    message: `the key was not stored: a test call failed: ${why}`,
    hint: "check the key and --base-url; --no-check stores it untried",
  });
}

interface Given {
  readonly driver: CredentialDriver | undefined;
  readonly url: string | undefined;
}

interface Form {
  readonly driver: CredentialDriver;
  readonly key: string;
  readonly baseUrl: string | undefined;
}

async function fromStdin({ host }: Call, { driver, url }: Given): Promise<Form> {
  if (driver === undefined) throw invalid("which provider? its name is missing", USAGE);
  const read = await readStdin(host.stdin, {
    maxBytes: MAX_KEY_BYTES,
    what: "the key on stdin",
    onSilence: () => false,
  });
  return { driver, key: checkedKey(read.toString("utf8").trim()), baseUrl: url };
}

/** undefined: the user gave up. */
async function typed(call: Call, given: Given): Promise<Form | undefined> {
  const { host } = call;
  const terminal = questionTerminal(call);
  if (terminal === undefined)
    throw invalid(
      "there is no terminal to type the key at",
      `crux auth login ${given.driver ?? "<provider>"} --key-stdin`,
    );
  const left = new AbortController();
  const write = (text: string): Promise<void> => new Promise((done) => void terminal.write(text, done));
  using keyboard = new Keyboard(host.stdin, () => left.abort());
  await keyboard.open(left.signal);
  const ask = (prompt: string, initial: string, isHidden = false) =>
    enterLine({ keyboard, write }, { prompt, initial, isHidden }, left.signal);
  const name = given.driver ?? (await ask(`Provider (${CREDENTIAL_DRIVERS.join(", ")}): `, ""));
  if (name === undefined) return undefined;
  const driver = driverOf(name.trim());
  const url = given.url ?? (await ask("Base URL (empty: the provider's own): ", ""));
  if (url === undefined) return undefined;
  const key = await ask("Key: ", "", true);
  if (key === undefined) return undefined;
  return { driver, key: checkedKey(key.trim()), baseUrl: url.trim() === "" ? undefined : url.trim() };
}

async function logout({ console }: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) throw invalid("one provider is needed", USAGE);
  const driver = driverOf(name);
  const { removed } = await client.request("credential.remove", { driver });
  if (console.mode === "json") await console.data({ driver, removed });
  else if (console.mode !== "quiet")
    await console.line(`[auth] ${driver}: ${removed ? "the stored key is removed" : "no key was stored"}`);
  return 0;
}

async function status(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const { args, console, host } = call;
  if (words.length > 0) throw invalid(`unknown argument: ${words[0]}`, USAGE);
  const { credentials, file } = await client.request("credential.list", {});
  const rows: Row[] = [];
  for (const driver of CREDENTIAL_DRIVERS) {
    const isOwn = namesDriver(host.env, driver);
    const stored = credentials.find((each) => each.driver === driver);
    if (!isOwn && stored === undefined) continue;
    const row = isOwn
      ? { driver, from: "environment" as const }
      : { driver, ...stored, from: "stored" as const };
    rows.push(args.flags.has("check") ? { ...row, check: await checked(call, driver) } : row);
  }
  if (console.mode === "json") await console.data({ credentials: rows, file });
  else if (rows.length === 0) await console.line("No provider has a key: crux auth login stores one.");
  else for (const row of rows) await console.line(statusLine(row));
  return rows.some(({ check }) => check !== undefined && check.kind !== "answered") ? 1 : 0;
}

async function checked({ host }: Call, driver: CredentialDriver) {
  return tryModel(host, { env: clientEnvironment(host.env), model: driver });
}

interface Row {
  readonly driver: CredentialDriver;
  readonly from: "environment" | "stored";
  readonly ends_with?: string;
  readonly base_url?: string | undefined;
  readonly check?: Awaited<ReturnType<typeof checked>>;
}

function statusLine({ driver, from, ends_with = "", base_url, check }: Row): string {
  const key =
    from === "stored"
      ? `key …${safeLine(ends_with)}, stored`
      : `key from ${CREDENTIAL_VARIABLES[driver].key}`;
  const server = base_url === undefined ? "" : `, ${safeLine(base_url)}`;
  if (check === undefined) return `${driver}: ${key}${server}`;
  const works =
    check.kind === "answered"
      ? "a test call was answered"
      : `a test call failed: ${check.kind === "failed" ? safeLine(check.why) : "no model was found"}`;
  return `${driver}: ${key}${server}; ${works}`;
}

function driverOf(name: string): CredentialDriver {
  const driver = CREDENTIAL_DRIVERS.find((each) => each === name);
  if (driver !== undefined) return driver;
  throw invalid(`not a provider that takes a key: ${name}`, `providers: ${CREDENTIAL_DRIVERS.join(", ")}`);
}

function checkedKey(key: string): string {
  if (/^[\x21-\x7e]{8,4096}$/.test(key)) return key;
  throw invalid("that is not a key: at least 8 characters, without blanks");
}

function ownWords(driver: CredentialDriver): string {
  const { key, baseUrl } = CREDENTIAL_VARIABLES[driver];
  return `! ${key} or ${baseUrl} is set in this terminal, so the stored key is not used from here`;
}

function withoutDriver(env: Record<string, string>, driver: CredentialDriver): Record<string, string> {
  const names = Object.values(CREDENTIAL_VARIABLES[driver]) as string[];
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}
