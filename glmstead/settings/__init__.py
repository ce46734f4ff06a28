"""Settings: flat group_data in, one frozen validated value out.

* ``sections``, ``model``: the values;  ``read``, ``problem``: data to values, or to one-line refusals
* ``roles``, ``load``: the doors (``cluster_of``, ``settings_for``);  ``foreign``: pyinfra's own keys
* ``rules``: what can be refused before any host is contacted
"""

from glmstead.settings.load import settings_for
from glmstead.settings.model import Cluster, Member, Settings
from glmstead.settings.roles import cluster_of

__all__ = ["Cluster", "Member", "Settings", "cluster_of", "settings_for"]
