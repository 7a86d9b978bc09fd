/** The driver `openai`, with the codec of its server's interface. */
import { chatCodec } from "../openai/body.ts";
import { OpenAiDriver } from "../openai/openai.ts";
import { openaiInterface, openaiProfile } from "../openai/profile.ts";
import { responsesCodec } from "./codec.ts";

export function openaiDriver(env: Readonly<Record<string, string>>): OpenAiDriver {
  const profile = openaiProfile(env);
  const { endpoint } = profile;
  const isNew = openaiInterface(env) === "responses";
  return new OpenAiDriver(profile, isNew ? responsesCodec("openai", endpoint) : chatCodec(endpoint.baseUrl));
}
