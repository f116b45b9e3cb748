// Asks again and again for what a view shows, while somebody looks at it.
import {get} from "./api.js";
import {useEffect, useState} from "./vendor/preact.js";

export function usePolled(path, every = 1000) {
  const [found, put] = useState({value: null, problem: ""});
  const [turn, again] = useState(0);
  useEffect(() => {
    let over = false, timer = 0, wait = every;
    const ask = async () => {
      if (over || document.hidden) return;
      try {
        const value = await get(path);
        if (over) return;
        put({value, problem: ""});
        wait = value.waiting > 0 ? 0 : every;  // a view that fills goes on at once
      } catch (problem) {
        wait = every;
        if (!over) put(before => ({...before, problem: problem.message}));
      }
      if (!over) timer = setTimeout(ask, wait);
    };
    const seen = () => { clearTimeout(timer); ask(); };
    document.addEventListener("visibilitychange", seen);
    ask();
    return () => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [path, every, turn]);
  return [found.value, found.problem, () => again(turn + 1)];
}
