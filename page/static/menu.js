// A menu below its button: Escape, and a click elsewhere, close it.
import {html, useEffect, useRef} from "./vendor/preact.js";

// label: what stands on the button; name: what the menu has, for those who hear it
export function Menu({label, name, title, kind = "", children}) {
  const menu = useRef();
  useEffect(() => {
    const elsewhere = ({target}) => { if (!menu.current.contains(target)) menu.current.open = false; };
    document.addEventListener("click", elsewhere);
    return () => document.removeEventListener("click", elsewhere);
  }, []);
  const close = event => {
    if (event.key !== "Escape" || !menu.current.open) return;
    event.stopPropagation();
    menu.current.open = false;
    menu.current.querySelector("summary").focus();
  };
  return html`<details class=${kind} ref=${menu} onKeyDown=${close}><summary title=${title}>${label}</summary>
    <div class="menu" role="group" aria-label=${name ?? label}>${children}</div></details>`;
}
