/** The Responses interface as a codec, and how the models of its vendors reason. */
import { hash } from "node:crypto";
import type { Effort } from "../../abi/llm.ts";
import type { Maker } from "../bound.ts";
import type { AttemptRequest } from "../driver.ts";
import type { Codec } from "../http/codec.ts";
import type { Endpoint } from "../http/failure.ts";
import { OPENAI_SERVER } from "../openai/chunks.ts";
import { isOpenAiHost } from "../openai/profile.ts";
import { type Manner, responsesBody } from "./body.ts";
import { eventsOfResponse, ResponsesDecoder } from "./events.ts";

/** `name`: of the driver. */
export function responsesCodec(name: "openai" | "xai", { baseUrl, secret }: Endpoint): Codec {
  // encrypted reasoning can be read by the account that it was made for alone
  const account = hash("sha256", `${baseUrl}\n${secret}`).slice(0, 8);
  const makerOf = (model: string): Maker => ({ driver: `${name}:${account}`, model });
  const manner = name === "xai" ? xai : isOpenAiHost(baseUrl) ? openai : anyServer;
  return {
    ...OPENAI_SERVER,
    path: () => "/responses",
    body: (request, model, { maxOutputTokens }) =>
      responsesBody(request, makerOf(model), { maxOutputTokens, manner }),
    decoder: (model) => new ResponsesDecoder(makerOf(model)),
    whole: eventsOfResponse,
  };
}

const takesXhigh = /^(gpt-(5\.[2-9]|[6-9]|\d\d)|gpt-5\.1-codex-max)/;

const openai: Manner = {
  reasons: (model) => /^(o\d|gpt-([5-9]|\d\d)|codex-|ft:(o\d|gpt-5))/.test(model) && !/-chat/.test(model),
  effort: (model, effort) => {
    if (effort === undefined || !openai.reasons(model)) return undefined;
    if (!takesXhigh.test(model)) return atMostHigh(effort);
    return effort === "max" ? "xhigh" : effort;
  },
};

/** The models that the user's own server has are not known; those that do not reason ignore the wish for it. */
const anyServer: Manner = { reasons: () => true, effort: (_model, effort) => atMostHigh(effort) };

/** The vendor's advice is to name the effort each time: its defaults differ from model to model. Some models refuse it. */
const xai: Manner = {
  reasons: (model) => !/non-reasoning|^grok-(2|3(?!-mini))/.test(model),
  effort: (model, effort, purpose) =>
    /non-reasoning|^grok-(2|3(?!-mini)|4(-|$)|4\.20|code-)/.test(model)
      ? undefined
      : explicit(effort, purpose),
};

function explicit(effort: Effort | undefined, purpose: AttemptRequest["purpose"]): string {
  return atMostHigh(effort) ?? (purpose === "helper" ? "low" : "high");
}

function atMostHigh(effort: Effort | undefined): string | undefined {
  return effort === "max" || effort === "xhigh" ? "high" : effort;
}
