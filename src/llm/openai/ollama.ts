/** Ollama by Chat Completions. */
import { chatCodec } from "./body.ts";
import { OpenAiDriver } from "./openai.ts";
import { ollamaProfile } from "./profile.ts";

export function ollamaDriver(env: Readonly<Record<string, string>>): OpenAiDriver {
  const profile = ollamaProfile(env);
  return new OpenAiDriver(profile, chatCodec(profile.endpoint.baseUrl));
}
