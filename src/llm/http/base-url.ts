/** A base URL from the environment, or `fallback` if unset. undefined: not an http(s) URL. */
export function findBaseUrl(value: string | undefined, fallback: string): string | undefined {
  if (value === undefined || value.trim() === "") return fallback;
  const url = URL.parse(value.trim());
  return url !== null && /^https?:$/.test(url.protocol) ? value.trim().replace(/\/+$/, "") : undefined;
}
