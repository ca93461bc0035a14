/** The page's entry: connects to the program that served it, and shows it. */
import { render } from 'preact';
import { Live } from './live/live.js';
import { LiveContext } from './live/context.js';
import { Shell } from './parts/shell.js';
import { applyTheme, savedTheme } from './live/theme.js';
import 'uplot/dist/uPlot.min.css';
import './style.css';

const live = new Live();
applyTheme(savedTheme());
void live.run();
const page = document.getElementById('page');
if (page !== null)
  render(
    <LiveContext.Provider value={live}>
      <Shell />
    </LiveContext.Provider>,
    page,
  );
