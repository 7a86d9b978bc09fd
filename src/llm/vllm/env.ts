/** The environment variables that an instance depends on. */
export const VLLM_ENV = ["VLLM_BASE_URL", "VLLM_API_KEY", "VLLM_MODEL"] as const;
