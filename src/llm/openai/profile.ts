/** The servers of the drivers of this dialect, from the caller's environment. */
import { findBaseUrl } from "../http/base-url.ts";
import type { Profile } from "../http/http-driver.ts";

type Env = Readonly<Record<string, string>>;

const OPENAI_URL = "https://api.openai.com/v1";
export const OPENAI_ENV = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "CRUX_OPENAI_API"] as const;
export const OLLAMA_ENV = ["OLLAMA_HOST", "OLLAMA_MODEL"] as const;

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
      "Set OPENAI_API_KEY to your API key; OPENAI_BASE_URL names another server, OPENAI_MODEL its model.",
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

export function ollamaProfile(env: Env): Profile {
  const origin = findOllamaOrigin(env.OLLAMA_HOST);
  return {
    name: "ollama",
    baseUrlName: "OLLAMA_HOST",
    model: env.OLLAMA_MODEL ?? "",
    hasVendorsModels: false,
    setUpHint: "Fetch a model with `ollama pull <model>`, then name it with --model ollama/<model>.",
    endpoint: {
      device: "/dev/llm/ollama",
      vendor: "Ollama",
      baseUrl: origin === undefined ? "" : `${origin}/v1`,
      keyName: "OLLAMA_HOST",
      // the dialect requires a key; the server ignores it
      secret: "ollama",
      unreachableHint: "Start Ollama with `ollama serve`, or set OLLAMA_HOST to where it runs.",
    },
  };
}

/**
 * `OLLAMA_HOST` as Ollama reads it: scheme and port may be missing; 0.0.0.0 is an address to listen on, so connect to
 * 127.0.0.1 instead. undefined: not a URL.
 */
export function findOllamaOrigin(host: string | undefined): string | undefined {
  const text = host?.trim() ?? "";
  if (text === "") return "http://127.0.0.1:11434";
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `http://${text}`);
  if (url === null) return undefined;
  const hasPort = url.port !== "" || /^https?:/.test(text);
  const hostname = url.hostname === "0.0.0.0" ? "127.0.0.1" : url.hostname;
  const port = url.port !== "" ? `:${url.port}` : hasPort ? "" : ":11434";
  return `${url.protocol}//${hostname}${port}${url.pathname.replace(/\/+$/, "")}`;
}
