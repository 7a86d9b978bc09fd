/** The first use: where no model is set up, the terminal asks for the key of a provider before the session begins. */
import { Fault } from "../abi/errors.ts";
import type { SpawnRequest } from "../abi/methods/process.ts";
import { clientEnvironment } from "../cli/run/environment.ts";
import { askLogin, type Login, storeLogin, tryLogin } from "../cli/run/login.ts";
import type { App } from "./app.ts";
import { innerCall } from "./inner-call.ts";

/** Asks again until a key works. Esc leaves the answers to the built-in interpreter. "interrupted": Ctrl-C. */
export async function settleModel(app: App, request: SpawnRequest): Promise<"settled" | "interrupted"> {
  if (!(await isMissing(app, request))) return "settled";
  const first = app.words.login.lead;
  for (let lead = first; ; ) {
    try {
      const login = await asked(app, lead);
      if (login === "interrupted") return login;
      if (login !== "skipped") await kept(app, login);
      return "settled";
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      lead = `✗ ${error.message}\n${first}`;
    }
  }
}

/** Whoever may not store keys, as a program that an agent has started, is not asked for one. */
async function isMissing({ client, cwd, call }: App, { model, agent }: SpawnRequest): Promise<boolean> {
  const env = clientEnvironment(call.host.env);
  const wish = { ...(model === undefined ? {} : { model }), ...(agent === undefined ? {} : { agent }) };
  try {
    const { driver, note } = await client.request("model.resolve", { cwd, env, ...wish });
    if (driver !== "interpreter" || note === undefined) return false;
    await client.request("credential.list", {});
    return true;
  } catch (error) {
    // the session is refused for the same reason, which is shown then
    if (error instanceof Fault) return false;
    throw error;
  }
}

async function asked(app: App, lead: string): ReturnType<typeof askLogin> {
  app.box.takesPastes = true;
  try {
    return await askLogin(innerCall(app), app.box.output, { lead });
  } finally {
    app.box.takesPastes = false;
  }
}

async function kept(app: App, login: Login): Promise<void> {
  const { driver } = login;
  const words = app.words.login;
  app.say(words.trying(driver));
  const inner = innerCall(app);
  const check = await tryLogin(inner, login);
  const { place, file, ends_with } = await storeLogin(inner, app.client, login);
  app.say(words.stored(driver, ends_with, place === "keychain" ? words.keychain : file, check), "success");
}
