/** Ollama by Chat Completions. */

import { HttpDriver } from "../http/http-driver.ts";
import { chatCodec } from "./body.ts";
import { ollamaProfile } from "./profile.ts";

export function ollamaDriver(env: Readonly<Record<string, string>>): HttpDriver {
  const profile = ollamaProfile(env);
  return new HttpDriver(profile, chatCodec(profile.endpoint.baseUrl));
}
