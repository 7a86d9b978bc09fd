/** The driver `openai`, with the codec of its server's interface. */

import { HttpDriver } from "../http/http-driver.ts";
import { chatCodec } from "../openai/body.ts";
import { openaiInterface, openaiProfile } from "../openai/profile.ts";
import { responsesCodec } from "./codec.ts";

export function openaiDriver(env: Readonly<Record<string, string>>): HttpDriver {
  const profile = openaiProfile(env);
  const { endpoint } = profile;
  const isNew = openaiInterface(env) === "responses";
  return new HttpDriver(profile, isNew ? responsesCodec("openai", endpoint) : chatCodec(endpoint.baseUrl));
}
