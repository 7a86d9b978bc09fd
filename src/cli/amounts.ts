/** Amounts on the command line: money, tokens, time. */
import { durationMs } from "../lib/time/span.ts";
import { type Args, textFlag } from "./args.ts";
import { invalid } from "./screen/errors.ts";

/** US dollars of a flag; undefined if it is not set. */
export function usdFlag(args: Args, name: string): number | undefined {
  const text = textFlag(args, name);
  if (text === undefined) return undefined;
  const usd = findUsd(text);
  // zero would be read as no limit at all
  if (usd === undefined || usd === 0)
    throw invalid(`--${name} needs an amount of US dollars above 0, not ${JSON.stringify(text)}`);
  return usd;
}

/** Milliseconds of a flag; undefined if it is not set. */
export function durationFlag(args: Args, name: string): number | undefined {
  const text = textFlag(args, name);
  if (text === undefined) return undefined;
  const ms = durationMs(/^\d+$/.test(text) ? `${text}s` : text);
  if (ms === undefined || ms === 0)
    throw invalid(`--${name} needs a time like 90s, 10m or 1h30m, not ${JSON.stringify(text)}`);
  return ms;
}

/** Parses US dollars: `2`, `0.50`, `$2`, `2usd`. */
export function findUsd(text: string): number | undefined {
  const [, amount] = /^\$?(\d{1,9}(?:\.\d{1,6})?)(?:usd)?$/i.exec(text.trim()) ?? [];
  return amount === undefined ? undefined : Number(amount);
}
