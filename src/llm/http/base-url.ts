/** A base URL from the environment, or `fallback` if unset. undefined: not an http(s) URL. */
export function findBaseUrl(value: string | undefined, fallback: string): string | undefined {
  if (value === undefined || value.trim() === "") return fallback;
  const url = URL.parse(value.trim());
  return url !== null && /^https?:$/.test(url.protocol) ? value.trim().replace(/\/+$/, "") : undefined;
}

/** The place of `path` below a base URL. A query of the base URL stays at the end. */
export function placeBelow(baseUrl: string, path: string): URL {
  const [base = "", query = ""] = baseUrl.split(/\?(.*)/s);
  const place = `${base.replace(/\/+$/, "")}${path}`;
  return new URL(query === "" ? place : `${place}${path.includes("?") ? "&" : "?"}${query}`);
}
