const down = ['j', 'ArrowDown'];
const up = ['k', 'ArrowUp'];

/** `moved` through the list, `left` what was chosen, or `pressed` a key of its own. */
export function listen({ moved, left, pressed }) {
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    const isTyping =
      target.closest('input, textarea, select') !== null || document.querySelector('dialog[open]') !== null;
    if (key === 'Escape' && target.id === 'filter') target.blur();
    if (key === 'Escape' && !isTyping) left();
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const isMove = down.includes(key) || up.includes(key);
    // A key that is held down sends one request.
    if (isMove ? isAtWork(target) : pressed[key] === undefined || event.repeat) return;
    event.preventDefault();
    if (isMove) moved(down.includes(key));
    else pressed[key]();
  });
}

/** Whoever reads a body or stands on a control scrolls there with the arrows. */
const isAtWork = (target) => target.closest('#detail, #served, button, a, summary') !== null;
