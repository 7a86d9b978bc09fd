/** Makes the drivers of OpenAI's interfaces, each with the codec of its server. */
import { responsesCodec } from "../responses/codec.ts";
import { chatCodec } from "./body.ts";
import { OpenAiDriver } from "./openai.ts";
import { ollamaProfile, openaiInterface, openaiProfile } from "./profile.ts";

type Env = Readonly<Record<string, string>>;

export function openaiDriver(env: Env): OpenAiDriver {
  const profile = openaiProfile(env);
  const { endpoint } = profile;
  const isNew = openaiInterface(env) === "responses";
  return new OpenAiDriver(profile, isNew ? responsesCodec("openai", endpoint) : chatCodec(endpoint.baseUrl));
}

export function ollamaDriver(env: Env): OpenAiDriver {
  const profile = ollamaProfile(env);
  return new OpenAiDriver(profile, chatCodec(profile.endpoint.baseUrl));
}
