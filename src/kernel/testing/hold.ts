/** Reserves tokens for a test; undefined: refused. */
import { type Account, Reservation } from "../account/account.ts";
import { tokensOnly } from "../account/amounts.ts";

export function hold(account: Account, tokens: number, least = tokens): Reservation | undefined {
  const got = account.reserve(tokensOnly(tokens), tokensOnly(least), 0);
  return got instanceof Reservation ? got : undefined;
}
