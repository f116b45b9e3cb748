// What a canvas needs to follow the colours: a number that changes with them, by the page's switch or the system's.
import {useEffect, useState} from "./vendor/preact.js";

export function useScheme() {
  const [turn, next] = useState(0);
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)"), changed = () => next(number => number + 1);
    document.addEventListener("scheme", changed);
    system.addEventListener("change", changed);
    return () => {
      document.removeEventListener("scheme", changed);
      system.removeEventListener("change", changed);
    };
  }, []);
  return turn;
}
