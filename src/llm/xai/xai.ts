/** xAI's models by the Responses interface. */
import { findBaseUrl } from "../http/base-url.ts";
import { HttpDriver, type Profile } from "../http/http-driver.ts";
import { responsesCodec } from "../responses/codec.ts";
import { XAI_PATIENCE_MS } from "./env.ts";

type Env = Readonly<Record<string, string>>;

export function xaiDriver(env: Env): HttpDriver {
  const profile = xaiProfile(env);
  return new HttpDriver(profile, responsesCodec("xai", profile.endpoint));
}

function xaiProfile(env: Env): Profile {
  return {
    name: "xai",
    baseUrlName: "XAI_BASE_URL",
    model: "",
    hasVendorsModels: true,
    setUpHint: "Run `crux auth login xai`, or set XAI_API_KEY to your API key.",
    patience: { connectMs: 10_000, silenceMs: XAI_PATIENCE_MS + 10_000 },
    endpoint: {
      device: "/dev/llm/xai",
      vendor: "xAI",
      baseUrl: findBaseUrl(env.XAI_BASE_URL, "https://api.x.ai/v1") ?? "",
      keyName: "XAI_API_KEY",
      secret: env.XAI_API_KEY ?? "",
      unreachableHint: "Check the network and XAI_BASE_URL.",
    },
  };
}
