/** The server of the driver `openai`, from the caller's environment. */
import { findBaseUrl } from "../http/base-url.ts";
import type { Profile } from "../http/http-driver.ts";

type Env = Readonly<Record<string, string>>;

const OPENAI_URL = "https://api.openai.com/v1";
export const OPENAI_ENV = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "CRUX_OPENAI_API"] as const;

/** The interface of the driver `openai`: as told, else Responses at the vendor and Chat Completions elsewhere. */
export function openaiInterface(env: Env): "responses" | "chat" {
  const { CRUX_OPENAI_API: told } = env;
  if (told === "responses" || told === "chat") return told;
  return isOpenAiHost(openaiProfile(env).endpoint.baseUrl) ? "responses" : "chat";
}

export function isOpenAiHost(baseUrl: string): boolean {
  const host = URL.parse(baseUrl)?.hostname ?? "";
  return host === "api.openai.com" || host.endsWith(".api.openai.com");
}

export function openaiProfile(env: Env): Profile {
  const baseUrl = findBaseUrl(env.OPENAI_BASE_URL, OPENAI_URL) ?? "";
  return {
    name: "openai",
    baseUrlName: "OPENAI_BASE_URL",
    model: env.OPENAI_MODEL ?? "",
    hasVendorsModels: baseUrl === OPENAI_URL,
    setUpHint:
      "Run `crux auth login openai`, or set OPENAI_API_KEY to your API key; OPENAI_BASE_URL names another server, OPENAI_MODEL its model.",
    endpoint: {
      device: "/dev/llm/openai",
      vendor: "OpenAI",
      baseUrl,
      keyName: "OPENAI_API_KEY",
      secret: env.OPENAI_API_KEY ?? "",
      unreachableHint: "Check the network and OPENAI_BASE_URL, and that the server there is running.",
    },
  };
}
